"""Tests of ensembles: each member has the bits of its run alone, whatever differs, diverges or is saved."""

from __future__ import annotations

import gc
import os
import signal
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any, ClassVar

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.engine import together
from lbmgpu.solver import simulation_of
from lbmgpu.study import batch as batches
from lbmgpu.study.batch import Batch

SHAPE = (24, 16)


def channel(stencil: str = "D2Q9", shape: tuple[int, ...] = SHAPE) -> lbm.Domain:
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    return domain


def wave(x: Any, y: Any, *_: Any) -> Any:
    return 0.04 * np.sin(2 * np.pi * y / SHAPE[1]), 0.02 * np.cos(2 * np.pi * x / SHAPE[0])


def same(ensemble: lbm.Ensemble, alone: list[lbm.Solver]) -> None:
    """Fail unless every member has the populations, to the bit, and the steps of its run alone."""
    found = ensemble.populations()
    assert found.shape[0] == len(alone)
    for member, solver in enumerate(alone):
        assert ensemble[member].steps == solver.steps
        np.testing.assert_array_equal(found[member], solver.populations(), err_msg=f"member {member}")


@pytest.mark.filterwarnings("ignore::lbmgpu.LostDigitsWarning")
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_members_have_the_bits_of_their_runs_alone(device: str, streaming: str, storage: str) -> None:
    collisions = [lbm.TRT(0.02), lbm.BGK(0.05), lbm.MRT(0.01), lbm.Regularized(0.03), lbm.TRT(0.2)]
    forces = [None, (1e-5, 0.0), (2e-5, 0.0), (0.0, 1e-6), (1e-5, 1e-5)]
    initial = {"velocity": wave}
    numbers = {"streaming": streaming, "storage": storage, "device": device}
    ensemble = lbm.Ensemble(channel(), collisions, force=forces, initial=initial, **numbers)
    alone = [lbm.Solver(channel(), c, force=f, **numbers) for c, f in zip(collisions, forces, strict=True)]
    for solver in alone:
        solver.initialize(velocity=wave)
    for steps in (1, 3, 100, 7):  # a few by themselves, and enough for a recording
        ensemble.step(steps)
        for solver in alone:
            solver.step(steps)
    same(ensemble, alone)
    assert ensemble.steps == 111
    assert ensemble.velocity().shape == (5, 2, *SHAPE)
    np.testing.assert_array_equal(ensemble.mass(), [solver.mass() for solver in alone])
    np.testing.assert_array_equal(ensemble.momentum(), [solver.momentum() for solver in alone])


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_members_may_have_turbulence_models(device: str, streaming: str) -> None:
    models = [lbm.WALE(), lbm.Vreman(every=3), None, lbm.Smagorinsky(0.15), lbm.WALE(every=3)]
    numbers = {"streaming": streaming, "device": device}
    start = {"velocity": wave}
    ensemble = lbm.Ensemble(channel(), lbm.TRT(0.002), turbulence=models, initial=start, **numbers)
    alone = [lbm.Solver(channel(), lbm.TRT(0.002), turbulence=model, **numbers) for model in models]
    for solver in alone:
        solver.initialize(velocity=wave)
    for steps in (1, 4, 150):
        ensemble.step(steps)
        for solver in alone:
            solver.step(steps)
    same(ensemble, alone)
    assert [member.turbulence for member in ensemble] == models
    every = lbm.Ensemble(channel(), [lbm.TRT(0.002), lbm.BGK(0.01)], turbulence=lbm.WALE(), initial=start, **numbers)
    every.step(2)
    np.testing.assert_array_equal(every.eddy_viscosity(), [member.eddy_viscosity() for member in every])
    assert every.eddy_viscosity().max() > 0


def test_domains_with_bodies_inlets_and_walls_that_change_in_time(device: str) -> None:
    def domain(speed: float) -> lbm.Domain:
        result = lbm.Domain((32, 16), "D2Q9")
        result.faces["-x"] = lbm.VelocityInlet(lambda x, y, t: (speed * (1 - np.exp(-t / 20)) + 0 * y, 0 * y))
        result.faces["+x"] = lbm.PressureOutlet()
        mask = np.zeros((32, 16), bool)
        mask[10:14, 6:10] = True
        result.add_body(mask, name="square")
        return result

    speeds = [0.02, 0.05, 0.08]
    ensemble = lbm.Ensemble([domain(speed) for speed in speeds], lbm.MRT(0.05), device=device)
    alone = [lbm.Solver(domain(speed), lbm.MRT(0.05), device=device) for speed in speeds]
    ensemble.step(60)
    for solver in alone:
        solver.step(60)
    same(ensemble, alone)
    drag = ensemble.body_force("square")
    np.testing.assert_array_equal(drag, [solver.body_force("square") for solver in alone])
    assert (np.diff(drag[:, 0]) > 0).all()


class CountedGroup(_core.EngineGroup):
    """A group that keeps the calls of `step` of all groups: how many engines, how many steps."""

    calls: ClassVar[list[tuple[int, int]]] = []

    def __init__(self, engines: tuple[Any, ...], threads: int) -> None:
        super().__init__(engines, threads)
        self._count = len(engines)

    def step(self, steps: int) -> None:
        self.calls.append((self._count, steps))
        super().step(steps)


def driven(at: Any) -> lbm.Domain:
    """A channel whose lower wall moves with the speed ``at(t)``."""
    result = channel()
    result.faces["-y"] = lbm.MovingWall(lambda x, y, t: (at(t) + 0 * x, 0 * x))
    return result


def test_a_wall_that_changes_in_time_has_no_other_member_make_single_steps(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    domains = [channel() for _ in range(8)]
    domains[3] = driven(lambda t: 0.01 * np.sin(t / 10))
    monkeypatch.setattr(together._core, "EngineGroup", CountedGroup)
    monkeypatch.setattr(CountedGroup, "calls", [])
    ensemble = lbm.Ensemble(domains, lbm.TRT(0.05), force=(1e-6, 0.0), device=device, threads=2)
    ensemble.run(40, callbacks=[lbm.Every(20, lambda _: None)])
    assert sum(steps for count, steps in CountedGroup.calls if count == 1) == 40
    of_others = [steps for count, steps in CountedGroup.calls if count == 7]
    assert sum(of_others) == 40
    assert max(of_others) > 1
    alone = [lbm.Solver(domain, lbm.TRT(0.05), force=(1e-6, 0.0), device=device) for domain in domains]
    for solver in alone:
        solver.step(40)
    same(ensemble, alone)


def test_an_error_in_the_values_of_a_wall_leaves_all_members_at_one_step(device: str) -> None:
    def speed(t: float) -> float:
        if t >= 7:
            raise ZeroDivisionError("no wall any more")
        return 0.01

    domains = [channel() for _ in range(8)]
    domains[3] = driven(speed)
    ensemble = lbm.Ensemble(domains, lbm.TRT(0.05), device=device, threads=2)
    with pytest.raises(ZeroDivisionError, match="no wall"):
        ensemble.step(20)
    assert [solver.steps for solver in ensemble] == [7] * 8


def test_members_with_a_temperature_in_three_dimensions(device: str) -> None:
    domain = channel("D3Q19", (16, 12, 10))
    models = [lbm.HybridThermal(0.02, buoyancy=(0.0, 1e-4 * k, 0.0)) for k in range(3)]
    initial = [{"temperature": lambda x, y, z, k=k: 0.1 * k * np.sin(y)} for k in range(3)]
    ensemble = lbm.Ensemble(domain, lbm.MRT(0.03), thermal=models, initial=initial, device=device)
    ensemble.step(40)
    alone = [lbm.Solver(domain, lbm.MRT(0.03), thermal=model, device=device) for model in models]
    for solver, start in zip(alone, initial, strict=True):
        solver.initialize(**start)
        solver.step(40)
    same(ensemble, alone)
    np.testing.assert_array_equal(ensemble.temperature(), [solver.temperature() for solver in alone])


def test_a_member_that_diverges_is_named_or_left_out(device: str) -> None:
    unstable = {"velocity": lambda x, y: (0.11 * np.sin(9 * x * y), 0.11 * np.cos(7 * x + y * y))}
    initial = [{"velocity": wave}, unstable, {"velocity": wave}]
    collisions = [lbm.TRT(0.02), lbm.BGK(1e-6), lbm.TRT(0.05)]
    with pytest.raises(lbm.DivergedError, match="of member 1 is not finite") as caught:
        lbm.Ensemble(lbm.Domain(SHAPE, "D2Q9"), collisions, initial=initial, device=device).run(3000)
    assert caught.value.member == 1
    ensemble = lbm.Ensemble(lbm.Domain(SHAPE, "D2Q9"), collisions, initial=initial, device=device)
    ensemble.run(3000, leave_out_diverged=True)
    assert list(ensemble.diverged) == [1]
    assert np.isnan(ensemble.velocity()).all(axis=(1, 2, 3)).tolist() == [False, True, False]
    assert np.isnan(ensemble.mass()).tolist() == [False, True, False]
    assert "3 members, 1 of them diverged" in repr(ensemble)
    alone = [lbm.Solver(lbm.Domain(SHAPE, "D2Q9"), lbm.TRT(v), device=device) for v in (0.02, 0.05)]
    for member, solver in zip((0, 2), alone, strict=True):
        solver.initialize(velocity=wave)
        solver.run(3000)
        np.testing.assert_array_equal(ensemble[member].populations(), solver.populations())


def test_all_members_that_diverge_are_an_error(device: str) -> None:
    start = {"velocity": lambda x, y: (0.11 * np.sin(9 * x * y), 0.11 * np.cos(7 * x + y * y))}
    ensemble = lbm.Ensemble(lbm.Domain(SHAPE, "D2Q9"), [lbm.BGK(1e-6)] * 2, initial=start, device=device)
    with pytest.raises(lbm.DivergedError):
        ensemble.run(3000, leave_out_diverged=True)


def test_a_run_ends_when_all_members_are_steady(device: str) -> None:
    forces = [(1e-6, 0.0), (1e-5, 0.0)]
    ensemble = lbm.Ensemble(channel(), lbm.TRT(0.3), force=forces, precision="float64", device=device)
    seen: list[int] = []
    result = ensemble.run(
        20_000, until=lbm.Steady(1e-8, every=200), callbacks=[lbm.Every(400, lambda e: seen.append(e.steps))]
    )
    assert result.converged
    assert result.steps < 20_000
    assert seen == list(range(400, result.steps + 1, 400))
    peak = ensemble.velocity()[:, 0].max(axis=(1, 2))
    np.testing.assert_allclose(peak[1] / peak[0], 10, rtol=1e-6)


@pytest.mark.parametrize("order", [1, -1])
def test_a_member_that_diverges_is_not_steady(device: str, order: int) -> None:
    unstable = {"velocity": lambda x, y: (0.11 * np.sin(9 * x * y), 0.11 * np.cos(7 * x + y * y))}
    initial, collisions = [unstable, {"velocity": wave}][::order], [lbm.BGK(1e-6), lbm.TRT(0.02)][::order]
    ensemble = lbm.Ensemble(lbm.Domain(SHAPE, "D2Q9"), collisions, initial=initial, device=device)
    result = ensemble.run(2000, until=lbm.Steady(1e-6, every=20), leave_out_diverged=True)
    assert len(ensemble.diverged) == 1
    assert not result.converged
    assert ensemble.steps == 2000


def test_a_member_that_was_stepped_alone_goes_on_with_the_others(device: str) -> None:
    initial = {"velocity": wave}
    ensemble = lbm.Ensemble(channel(), [lbm.TRT(0.02), lbm.TRT(0.03), lbm.TRT(0.04)], initial=initial, device=device)
    ensemble[1].step(1)
    ensemble.step(100)
    ensemble[1].step(1)
    ensemble.step(51)
    for member, steps in enumerate((151, 153, 151)):
        alone = lbm.Solver(channel(), lbm.TRT(0.02 + 0.01 * member), device=device)
        alone.initialize(velocity=wave)
        alone.step(steps)
        np.testing.assert_array_equal(ensemble[member].populations(), alone.populations())


def test_checkpoints_of_another_ensemble_are_refused(tmp_path: Path) -> None:
    two, three = (lbm.Ensemble(channel(), [lbm.TRT(0.02)] * count, device="cpu") for count in (2, 3))
    for _ in range(2):
        two.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(lbm.CheckpointError, match="of an ensemble of 2 members, this one has 3"):
        three.restore(tmp_path)
    (tmp_path / "ensemble.json").write_text("{}")
    with pytest.raises(lbm.CheckpointError, match="no list of an ensemble's checkpoints"):
        two.restore(tmp_path)


def test_saved_members_go_on_bit_for_bit(device: str, tmp_path: Path) -> None:
    collisions = [lbm.TRT(0.02), lbm.TRT(0.04)]
    whole, first, second = (
        lbm.Ensemble(channel(), collisions, initial={"velocity": wave}, device=device) for _ in range(3)
    )
    whole.step(50)
    first.step(20)
    first.save(tmp_path / "saved")
    second.restore(tmp_path / "saved")
    second.step(30)
    np.testing.assert_array_equal(second.populations(), whole.populations())


def test_threads_are_shared_among_the_members() -> None:
    ensemble = lbm.Ensemble(channel(), [lbm.TRT(0.02)] * 5, device="cpu", threads=2)
    assert [solver.threads for solver in ensemble] == [1] * 5
    ensemble.step(10)
    assert ensemble[4].steps == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"collision": lbm.TRT(0.1)}, "an ensemble needs a list"),
        ({"collision": []}, "members: 0 given"),
        ({"collision": [lbm.TRT(0.1)] * 2, "force": [None] * 3}, "lists of different lengths given: 2 of collision, 3"),
        ({"domain": [channel(), channel(shape=(8, 8))], "collision": lbm.TRT(0.1)}, r"domain\[1\]: \(8, 8\)"),
        ({"collision": [lbm.TRT(0.1)] * 2, "device": ["cpu", "cpu"]}, "must be one device"),
    ],
)
def test_wrong_members_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        lbm.Ensemble(**{"domain": channel()} | arguments)


def test_members_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from lbmgpu.study import ensemble

    monkeypatch.setattr(ensemble, "available_memory", lambda device: 10_000)
    with pytest.raises(lbm.TooLittleMemoryError, match=r"members: 1000 given need .* what would fit: \d+ members"):
        lbm.Ensemble(channel(), [lbm.TRT(0.1)] * 1000, device="cpu")


def test_engines_of_a_group_are_checked() -> None:
    whole = simulation_of(lbm.Solver(channel(), lbm.TRT(0.1), device="cpu")).engine
    cut = simulation_of(lbm.Solver(channel(), lbm.TRT(0.1), layout=lbm.Layout.split(SHAPE, (2, 1), ["cpu"] * 2))).engine
    for engines, message in [((), "none given"), ((whole, whole), "given twice"), ((whole, cut), "a single block")]:
        with pytest.raises(ValueError, match=message):
            _core.EngineGroup(engines, 1)


def test_cases_of_a_batch_step_together_with_their_own_bits(device: str) -> None:
    """Cases in threads ask for different numbers of steps; one ends early, one raises."""
    wanted = {0.02: [50, 70], 0.03: [120], 0.05: [10], 0.08: [33, 33, 54]}
    batch, found, errors = Batch(len(wanted), 2), {}, []

    def case(viscosity: float, parts: list[int]) -> None:
        try:
            with batch.case():
                solver = lbm.Solver(channel(), lbm.TRT(viscosity), device=device)
                batch.adopt(simulation_of(solver))
                solver.initialize(velocity=wave)
                for steps in parts:
                    solver.run(steps)
                found[viscosity] = solver.populations()
                if viscosity == 0.05:
                    raise ValueError("one of them fails")
        except ValueError as error:
            errors.append(str(error))

    threads = [Thread(target=case, args=each) for each in wanted.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert errors == ["one of them fails"]
    for viscosity, parts in wanted.items():
        alone = lbm.Solver(channel(), lbm.TRT(viscosity), device=device)
        alone.initialize(velocity=wave)
        alone.step(sum(parts))
        np.testing.assert_array_equal(found[viscosity], alone.populations())


def test_a_case_that_does_not_step_keeps_the_batch_waiting_once() -> None:
    """Others step by themselves meanwhile, and their memory goes with their solvers."""
    batch, idle_ends, seconds, engines = Batch(3, 1), Event(), [], []

    def idle() -> None:
        with batch.case():
            solver = lbm.Solver(channel(), lbm.TRT(0.05), device="cpu")
            batch.adopt(simulation_of(solver))
            solver.step(1)
            idle_ends.wait(60)

    def steps() -> None:
        with batch.case():
            for _ in range(2):
                solver = lbm.Solver(channel(), lbm.TRT(0.05), device="cpu")
                batch.adopt(simulation_of(solver))
                engines.append(weakref.ref(simulation_of(solver)))
                begin = time.monotonic()
                for _ in range(50):
                    solver.step(2)
                seconds.append(time.monotonic() - begin)
                del solver

    threads = [Thread(target=idle), Thread(target=steps), Thread(target=steps)]
    for thread in threads:
        thread.start()
    for thread in threads[1:]:
        thread.join(60)
    assert len(seconds) == 4
    assert max(seconds) < 5
    gc.collect()
    assert [engine for engine in engines if engine() is not None] == []
    idle_ends.set()
    threads[0].join(60)


def run_in_batch(count: int, body: Callable[[int, Batch], None]) -> list[BaseException | None]:
    """The errors of cases, each a thread that calls ``body(number, batch)``, by their numbers."""
    batch = Batch(count, 2)
    errors: list[BaseException | None] = [None] * count

    def case(number: int) -> None:
        try:
            with batch.case():
                body(number, batch)
        except BaseException as error:
            errors[number] = error

    threads = [Thread(target=case, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return errors


def test_a_wall_that_changes_in_time_has_no_other_case_of_a_batch_make_single_steps(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    domains = [channel(), driven(lambda t: 0.01 * np.sin(t / 10)), channel(), driven(lambda t: 0.01)]
    monkeypatch.setattr(batches._core, "EngineGroup", CountedGroup)
    monkeypatch.setattr(CountedGroup, "calls", [])
    found = {}

    def body(number: int, batch: Batch) -> None:
        solver = lbm.Solver(domains[number], lbm.TRT(0.05), force=(1e-6, 0.0), device=device)
        batch.adopt(simulation_of(solver))
        solver.step(10)
        solver.step(64)
        found[number] = solver.populations()

    assert run_in_batch(4, body) == [None] * 4
    at_once = [count for count, steps in CountedGroup.calls if steps > 1]
    assert at_once
    assert max(at_once) == 2
    for number, domain in enumerate(domains):
        alone = lbm.Solver(domain, lbm.TRT(0.05), force=(1e-6, 0.0), device=device)
        alone.step(74)
        np.testing.assert_array_equal(found[number], alone.populations())


def test_a_case_may_have_walls_of_both_kinds() -> None:
    def body(number: int, batch: Batch) -> None:
        solvers = [lbm.Solver(domain, lbm.TRT(0.05), device="cpu") for domain in (channel(), driven(lambda t: 0.01))]
        for solver in solvers:
            batch.adopt(simulation_of(solver))
        for _ in range(20):
            for solver in solvers[:: 1 if number else -1]:
                solver.step(3)

    begin = time.monotonic()
    assert run_in_batch(3, body) == [None] * 3
    assert time.monotonic() - begin < 15


def test_an_error_in_the_steps_of_a_batch_is_that_of_the_case_that_caused_it(device: str) -> None:
    steps = {}

    def body(number: int, batch: Batch) -> None:
        solver = lbm.Solver(channel(), lbm.TRT(0.05), device=device)
        batch.adopt(simulation_of(solver))
        if number == 1:
            simulation_of(solver).engine.steps = 2**53 - 15
        for _ in range(4):
            solver.step(10)
        steps[number] = solver.steps

    errors = run_in_batch(3, body)
    assert [error is None for error in errors] == [True, False, True]
    with pytest.raises(ValueError, match=r"steps: \d+ given after"):
        raise errors[1] or AssertionError
    assert steps == {0: 40, 2: 40}


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_of_a_case_steps_its_solver_by_itself() -> None:
    """While another thread of the parent, which the child has not, holds the batch's lock."""
    is_stepping, child_ended, status = Event(), Event(), []

    def body(number: int, batch: Batch) -> None:
        solver = lbm.Solver(channel(shape=(512, 512) if number == 0 else SHAPE), lbm.TRT(0.05), device="cpu", threads=1)
        batch.adopt(simulation_of(solver))
        solver.step(1)
        while number == 0 and not child_ended.is_set():
            solver.step(50)
            is_stepping.set()
        if number == 1:
            try:
                is_stepping.wait(30)
                time.sleep(0.05)
                child = os.fork()
                if child == 0:
                    signal.alarm(20)
                    try:
                        solver.step(5)
                        os._exit(0 if solver.steps == 6 else 1)
                    finally:
                        os._exit(2)
                status.append(os.waitpid(child, 0)[1])
            finally:
                child_ended.set()

    assert run_in_batch(2, body) == [None, None]
    assert status == [0]
