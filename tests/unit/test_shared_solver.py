"""One solver used by several Python threads, and conditions that change in time across saving and loading."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pytest

import lbmgpu as lbm


def swinging_belt(device: str) -> lbm.Solver:
    """A box with a lid and a body that both move as time goes."""
    domain = lbm.Domain((24, 16), stencil="D2Q9")
    for face in ("-x", "+x", "-y"):
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.05 * np.sin(0.1 * t) + 0 * x, 0.0))
    mask = np.zeros(domain.shape, dtype=bool)
    mask[8:12, 6:9] = True
    domain.add_body(mask, "belt", lbm.MovingWall(lambda x, y, t: (0.03 * np.cos(0.2 * t), 0.0)))
    return lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device=device)


def constant_lid(device: str) -> lbm.Solver:
    """Fluid between a plate at rest and one that moves."""
    domain = lbm.Domain((32, 24, 20))
    domain.faces["-z"], domain.faces["+z"] = lbm.NoSlip(), lbm.MovingWall((0.05, 0, 0))
    return lbm.Solver(domain, lbm.BGK(0.02), device=device)


@pytest.mark.parametrize("make", [constant_lid, swinging_belt])
def test_threads_take_turns(make, device):
    """Steps done by several threads at once, while others read, add up to the same state as one after the other."""
    together, alone = make(device), make(device)
    stop = threading.Event()
    seen = []

    def read() -> None:
        while not stop.is_set():
            seen.append(together.velocity().tobytes())
            together.mass()

    readers = [threading.Thread(target=read) for _ in range(2)]
    steppers = [threading.Thread(target=lambda: [together.step(1) for _ in range(25)]) for _ in range(4)]
    for thread in readers + steppers:
        thread.start()
    for thread in steppers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    states = {alone.velocity().tobytes()}
    for _ in range(100):
        alone.step()
        states.add(alone.velocity().tobytes())
    assert together.steps == 100
    assert seen
    assert set(seen) <= states  # whole ones, each after some step
    np.testing.assert_array_equal(together.populations(), alone.populations())


@pytest.mark.parametrize("make", [constant_lid, swinging_belt])
def test_a_file_saved_beside_steps_has_the_state_of_its_step(make, device, tmp_path):
    solver, paths, velocities = make(device), [], []
    enough = threading.Event()

    def step() -> None:
        for steps in itertools.cycle((1, 7, 300, 2, 300)):
            if enough.is_set():
                break
            solver.step(steps)

    thread = threading.Thread(target=step)
    thread.start()
    while len(paths) < 3:
        with solver.paused():
            velocities.append((solver.steps, solver.velocity(), solver.mass()))
        paths.append(solver.save(tmp_path / f"{len(paths)}.h5"))
    enough.set()
    thread.join()
    alone = make(device)
    for step, velocity, mass in velocities:
        alone.step(step - alone.steps)
        np.testing.assert_array_equal(velocity, alone.velocity())
        assert mass == alone.mass()
    alone = make(device)
    for path in paths:
        loaded = lbm.Solver.load(path, domain=alone.domain, device=device)
        alone.step(loaded.steps - alone.steps)
        np.testing.assert_array_equal(loaded.populations(), alone.populations())


def test_a_thread_that_steps_lets_others_have_their_turn(device):
    """In the middle of a call of a million steps, and again and again."""
    seen, enough = [], threading.Event()

    class Stop(Exception):
        pass

    def lid(x, y, t):
        if enough.is_set():
            raise Stop
        return 0.01 * np.sin(0.1 * t) + 0 * x, 0.0

    def step():
        with pytest.raises(Stop):
            solver.step(1_000_000)

    domain = lbm.Domain((24, 16), stencil="D2Q9")
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall(lid)
    solver = lbm.Solver(domain, lbm.TRT(0.05), device=device)
    thread = threading.Thread(target=step)
    thread.start()
    end = time.monotonic() + 300  # a GPU has kernels to compile first
    while time.monotonic() < end and (len(seen) < 5 or not seen[-1]):
        solver.mass()
        seen.append(solver.steps)
    alive = thread.is_alive()
    enough.set()
    thread.join()
    assert alive
    assert seen[-1] > 0


def test_a_callback_may_leave_the_solver_to_another_thread(device):
    """Nothing is held while a function of the user is called."""
    solver, masses = constant_lid(device), []

    def ask(of):
        thread = threading.Thread(target=lambda: masses.append(of.mass()))
        thread.start()
        thread.join(timeout=300)

    solver.run(4, callbacks=[lbm.Every(2, ask)])
    assert len(masses) == 2


def test_forces_and_walls_are_those_of_the_time_that_was_loaded(device, tmp_path):
    """Loading, restoring and initialising bring what changes in time to the time of the state."""
    solver = swinging_belt(device)
    start = solver.body_force("belt"), solver.velocity()
    solver.step(37)
    path = solver.save(tmp_path / "state.h5")
    force, torque, velocity = solver.body_force("belt"), solver.body_torque("belt"), solver.velocity()
    assert abs(force[0] - start[0][0]) > 1e-4
    loaded = lbm.Solver.load(path, domain=solver.domain, device=device)
    solver.step(11)
    solver.restore(path)
    for other in (loaded, solver):
        np.testing.assert_array_equal(other.body_force("belt"), force)
        np.testing.assert_array_equal(other.body_torque("belt"), torque)
        np.testing.assert_array_equal(other.velocity(), velocity)
    solver.initialize()
    np.testing.assert_array_equal(solver.body_force("belt"), start[0])
    np.testing.assert_array_equal(solver.velocity(), start[1])


def test_an_error_of_a_condition_leaves_the_time_where_it_was(device):
    """A function that fails is called again for the same step, and what it gave before is not used in its place."""
    domain = lbm.Domain((8, 6), stencil="D2Q9")
    domain.faces["-y"] = lbm.NoSlip()
    calls, failing = [], {5}

    def lid(x, y, t):
        calls.append(t)
        if t in failing:
            raise RuntimeError("no value yet")
        return 0.001 * t + 0 * x, 0.0

    domain.faces["+y"] = lbm.MovingWall(lid)
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device=device)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            solver.step(10)
        assert solver.steps == 5
    failing.clear()
    solver.step(5)
    whole = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device=device)
    calls.clear()
    whole.step(10)
    assert calls == list(range(1, 10))  # that of time 0 was asked for when the solver was made
    np.testing.assert_array_equal(solver.populations(), whole.populations())
