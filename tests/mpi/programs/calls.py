"""Ranks that make different calls, or the same with different arguments, all get the same error, and go on together."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
last = rank == size - 1
folder = Path(sys.argv[1])
SHAPE = (12, 10, 8)


def make(**options: object) -> lbm.Solver:
    domain = lbm.Domain(SHAPE)
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    domain.thermal["-x"] = domain.thermal["+x"] = lbm.Isothermal(0.5)
    domain.add_body(np.indices(SHAPE).sum(axis=0) < 2, "corner")
    thermal = lbm.HybridThermal(0.05)
    return lbm.Solver(domain, lbm.BGK(0.1), device="cpu", comm=world, thermal=thermal, threads=1, **options)


def assign(solver: lbm.Solver, name: str, value: object) -> Callable[[], None]:
    return lambda: setattr(solver, name, value)


def refused(one: Callable[[], object], other: Callable[[], object], *words: str, kind: type = ValueError) -> None:
    """The last rank does the other thing: an error with all words comes to each rank, and the state stays."""
    before = solver.steps, solver.populations()
    with pytest.raises(kind) as caught:
        (other if last else one)()
    for word in words:
        assert word.format(last=size - 1) in str(caught.value), str(caught.value)
    texts = world.allgather(str(caught.value))
    assert len(set(texts)) == 1, texts
    assert solver.steps == before[0]
    np.testing.assert_array_equal(solver.populations(), before[1])


def nothing(_: object) -> None:
    pass


solver, second = make(), make()
same = "all ranks take the same arguments"
given = "rank {last} was given another than rank 0"
different = "comm: different calls given, must be the same on all ranks: "

# Arguments.
refused(lambda: solver.step(3), lambda: solver.step(4), f"steps: {given} (4, not 3)", same, "(in step)")
refused(lambda: solver.step(3), lambda: solver.step(-3), "steps: ", "(-3, not 3)")
refused(lambda: solver.run(3), lambda: solver.run(3, until=lbm.Steady(1e-9)), f"until: {given}")
every = [lbm.Every(2, nothing)]
refused(lambda: solver.run(3, callbacks=every), lambda: solver.run(3), f"callbacks: {given}")
refused(lambda: solver.run(3, callbacks=every), lambda: solver.run(3, callbacks=[lbm.Every(3, nothing)]), "callbacks: ")
paths = folder / "one.h5", folder / "other.h5"
refused(lambda: solver.save(paths[0]), lambda: solver.save(paths[1]), f"path: {given}", "(in save)")
assert not any(path.exists() for path in paths)
refused(lambda: solver.write_vtk("one"), lambda: solver.write_vtk("other"), "path: ")
refused(lambda: solver.initialize(1.0), lambda: solver.initialize(1.1), f"density: {given} (1.1, not 1.0)")
field = np.zeros((3, *SHAPE))
refused(lambda: solver.initialize(velocity=field), lambda: solver.initialize(velocity=field + 0.01), "velocity: ")
refused(lambda: solver.initialize(velocity=field), lambda: solver.initialize(velocity=field[0]), "velocity: ")
refused(assign(solver, "force", (1e-6, 0, 0)), assign(solver, "force", (2e-6, 0, 0)), f"force: {given}")
refused(assign(solver, "force", (1e-6, 0, 0)), assign(solver, "force", None), "force: ")
refused(assign(solver, "heat_source", 1e-6), assign(solver, "heat_source", 2e-6), "source: ")
refused(lambda: solver.body_force("corner"), lambda: solver.body_force("edge"), "name: ", "('edge', not 'corner')")
refused(lambda: solver.face_force("-x"), lambda: solver.face_force("+x"), "face: ", "('+x', not '-x')")
refused(lambda: solver.heat_flux("-x"), lambda: solver.heat_flux("+x"), "where: ")
assert solver.force is None
assert solver.heat_source is None

# Calls.
refused(lambda: solver.step(3), solver.mass, different, "rank {last}: mass() at step 0", "step(steps=3) at step 0")
refused(lambda: solver.velocity(gather=True), lambda: solver.density(gather=True), different)
refused(lambda: solver.velocity(gather=True), lambda: solver.save(paths[0]), different)
refused(lambda: solver.report(gather=True), solver.check, different)
refused(lambda: lbm.Solver.load("a.h5", comm=world), lambda: lbm.Solver.load("b.h5", comm=world), "path: ")
refused(make, lambda: solver.step(1), different, "Solver()")
refused(make, lambda: lbm.Solver.load("a.h5", comm=world), different)
refused(lambda: solver.step(2), lambda: second.step(2), f"solver: {given} (2, not 1)")

# What a callback of one rank does, or raises, and what a function of one rank raises.
solver.run(2, callbacks=[lbm.Every(1, lambda s: s.density() if last else None)])  # its own part is its own matter
calls = [lbm.Every(2, lambda s: s.mass() if last else None)]
before = solver.steps
with pytest.raises(ValueError, match=r"different calls given.*the end of a callback of run at step 4.*mass"):
    solver.run(2, callbacks=calls)
assert world.allgather(solver.steps) == [before + 2] * size


def fails(*_: object) -> object:
    if last:
        raise KeyError("no value")
    return 1.0


for call in (
    lambda: solver.run(2, callbacks=[lbm.Every(2, fails)]),
    lambda: solver.initialize(fails),
    assign(solver, "force", lambda x, y, z: (1e-6 * fails(), 0, 0)),
    lambda: make(force=lambda x, y, z: (1e-6 * fails(), 0, 0)),
):
    with pytest.raises(KeyError if last else RuntimeError) as caught:
        call()
    assert last or str(caught.value) == f"rank {size - 1}: KeyError: 'no value'", str(caught.value)

# An error of all ranks is the one that each of them has.
for _ in range(2):
    with pytest.raises(ValueError, match=r"^steps: -1 given"):
        solver.step(-1)
    with pytest.raises(FileNotFoundError):
        solver.save(folder / "nowhere" / "state.h5")
    with pytest.raises(ZeroDivisionError):
        solver.run(2, callbacks=[lbm.Every(1, lambda s: 1 / 0)])

# The same, written in another way, is the same.
solver.step(np.int64(2) if last else 2)
solver.save(str(paths[0]) if last else paths[0])
solver.force = [1e-6, 0, 0] if last else (1e-6, 0, 0)
solver.run(2, progress=last)


# Another thread's call comes after the one that is going on, on all ranks.
done = []
thread = threading.Thread(target=lambda: done.append(solver.mass()))
solver.run(2, callbacks=[lbm.Every(2, lambda s: thread.start())])
thread.join()
assert len(done) == 1
print(f"rank {rank} of {size} is done\n", end="", flush=True)
