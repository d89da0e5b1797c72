"""Functions of coordinates and t are evaluated ahead of the steps: with the bits, the calls and the errors of single
steps, in each of which they are called by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine import boundary
from lbmgpu.solver import simulation_of

GPU = pytest.param("cuda:0", marks=pytest.mark.gpu)


def inlet(x: Any, y: Any, t: float) -> Any:
    return 0.05 * y / 16 * (1 + 0.3 * np.sin(0.2 * t + 0.1 * y)), 0.01 * np.cos(0.3 * t)


def density(x: Any, y: Any, t: float) -> Any:
    return 1 + 0.002 * np.sin(0.1 * t + y)


def turning(x: Any, y: Any, t: float) -> Any:
    return 0.002 * np.cos(0.1 * t) * (8 - y), 0.002 * np.cos(0.1 * t) * (x - 10)


def channel(scheme: str = "non-equilibrium", velocity: Any = inlet, body: bool = True) -> lbm.Domain:
    domain = lbm.Domain((24, 16), stencil="D2Q9")
    domain.faces["-y"] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.03 * np.sin(0.07 * t), 0.0))
    domain.faces["-x"] = lbm.VelocityInlet(velocity, scheme=scheme)
    domain.faces["+x"] = lbm.PressureOutlet(density)
    if body:
        domain.add_body(lambda x, y: (x - 10) ** 2 + (y - 8) ** 2 < 9, "paddle", lbm.MovingWall(turning))
    return domain


def box() -> lbm.Domain:
    domain = lbm.Domain((10, 8, 6), stencil="D3Q19")
    domain.faces["-x"] = lbm.VelocityInlet(lambda x, y, z, t: (0.04 + 0.01 * np.sin(t + y + 2 * z), 0.01, 0.001 * z))
    domain.faces["+x"] = lbm.PressureOutlet()
    domain.faces["+z"] = domain.faces["-z"] = lbm.MovingWall(lambda x, y, z, t: (0.02 * np.cos(0.1 * t), 0.01, 0))
    domain.add_body(
        np.indices((10, 8, 6))[1] < 2,
        "paddle",
        lbm.MovingWall(lambda x, y, z, t: (0.02 * np.sin(0.1 * t), 0, 0.001 * x)),
    )
    return domain


def heated(stencil: str) -> lbm.Domain:
    domain = lbm.Domain((16, 12), stencil=stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"] = lbm.Isothermal(lambda x, y, t: 0.72 + 0.01 * np.sin(0.3 * t + 0.1 * x))
    domain.thermal["+y"] = lbm.Isothermal(0.7)
    if stencil == "D2Q9":
        domain.add_body(
            np.indices((16, 12))[0] < 3,
            "paddle",
            thermal=lbm.Isothermal(lambda x, y, t: 0.7 + 0.01 * np.cos(0.1 * t) * x / 16),
        )
    return domain


FLOWS: dict[str, Callable[..., lbm.Solver]] = {
    **{
        scheme: lambda scheme=scheme, **options: lbm.Solver(channel(scheme), lbm.TRT(0.05), **options)
        for scheme in ("non-equilibrium", "regularized", "characteristic")
    },
    "a part of the values by factors": lambda **options: lbm.Solver(
        channel(velocity=inlet_by_factor), lbm.TRT(0.05), force=(1e-5, 0) * lbm.Sine(period=17), **options
    ),
    "three dimensions": lambda **options: lbm.Solver(box(), lbm.TRT(0.05), **options),
    "gradients": lambda **options: lbm.Solver(box(), lbm.TRT(0.05), turbulence=lbm.WALE(), **options),
    "a temperature": lambda **options: lbm.Solver(
        heated("D2Q9"), lbm.TRT(0.05), thermal=lbm.HybridThermal(0.05, reference=0.7, buoyancy=(0, 1e-3)), **options
    ),
    "D2Q37": lambda **options: lbm.Solver(heated("D2Q37"), lbm.ThermalBGK(0.1), **options),
}
inlet_by_factor = (lambda x, y: (0.05 * y / 16, 0.0)) * lbm.Sine(mean=1, amplitude=0.3, period=23)


def states(solver: lbm.Solver, parts: tuple[int, ...]) -> list[Any]:
    found: list[Any] = []
    warm = simulation_of(solver).has_temperature
    for steps in parts:
        solver.step(steps)
        found += [solver.steps, solver.velocity(), solver.populations()]
        found.append(solver.temperature() if warm else solver.body_force("paddle"))
    return found


def alike(ours: list[Any], theirs: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("name", FLOWS)
def test_bits_are_those_of_single_steps(name: str, streaming: str) -> None:
    options = {} if name == "D2Q37" else {"streaming": streaming}
    ours, theirs = FLOWS[name](device="cpu", **options), FLOWS[name](device="cpu", **options)
    assert simulation_of(ours).boundary.numbers_ahead > 0
    found = states(ours, (boundary.STEPS_AHEAD + 5, 1, 30))
    expected: list[Any] = []
    for steps in (boundary.STEPS_AHEAD + 5, 1, 30):
        for _ in range(steps - 1):
            theirs.step(1)
        expected += states(theirs, (1,))
    alike(found, expected)


@pytest.mark.parametrize("name", ["non-equilibrium", "gradients", "a temperature"])
def test_no_layout_changes_a_bit(name: str) -> None:
    whole = FLOWS[name](device="cpu")
    shape = whole.domain.shape
    parts = FLOWS[name](device="cpu", layout=lbm.Layout.split(shape, (2, 2, 1)[: len(shape)]))
    alike(states(whole, (70, 3)), states(parts, (70, 3)))


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("name", FLOWS)
def test_bits_of_a_gpu_are_those_of_the_cpu(name: str, streaming: str, gpu: str) -> None:
    options = {} if name == "D2Q37" else {"streaming": streaming}
    parts = (40, 1, 3, 3 * boundary.STEPS_AHEAD + 2, 7)
    alike(*(states(FLOWS[name](device=device, **options), parts) for device in (gpu, "cpu")))


def test_functions_are_called_in_order_and_once_for_each_step() -> None:
    times: dict[str, list[float]] = {"inlet": [], "body": []}

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(x: Any, y: Any, t: float) -> Any:
            times[name].append(t)
            return function(x, y, t)

        return call

    domain = channel(velocity=noted("inlet", inlet), body=False)
    domain.add_body(np.indices((24, 16))[0] == 12, "body", lbm.MovingWall(noted("body", turning)))
    solver = lbm.Solver(domain, lbm.TRT(0.05), device="cpu")
    for steps in (1, 200, 3):
        solver.step(steps)
    assert times == {name: [float(t) for t in range(204)] for name in times}
    solver.body_force("body")  # at t = 204, which the next step need not ask for again
    assert times["body"][-1] == 204
    assert times["inlet"][-1] == 203
    solver.step(2)
    assert times == {name: [float(t) for t in range(206)] for name in times}
    solver.initialize()
    solver.step(2)
    assert times["inlet"][206:] == times["body"][206:] == [0.0, 1.0]


def test_what_a_callback_changes_reaches_the_next_step() -> None:
    def run(single: bool) -> list[Any]:
        speed = [0.01]
        solver = lbm.Solver(channel(velocity=lambda x, y, t: (speed[0] + 0 * y, 0.0), body=False), lbm.TRT(0.05))

        def faster(solver: lbm.Solver) -> None:
            speed[0] += 0.001

        if single:
            for step in range(100):
                solver.step(1)
                if (step + 1) % 7 == 0:
                    faster(solver)
        else:
            solver.run(100, callbacks=[lbm.Every(7, faster)])
        return [solver.populations()]

    alike(run(False), run(True))


@pytest.mark.parametrize("reads", [lambda s: s.velocity()[0, 12, 8], lambda s: 1e-5 * s.steps])
def test_functions_that_look_at_a_solver_see_it_before_each_step(reads: Callable[[lbm.Solver], float]) -> None:
    def run(parts: list[int]) -> list[Any]:
        def follow(x: Any, y: Any, t: float) -> Any:
            return 0.02 + (0.1 * reads(solver) if t > 20 else 0.0) + 0 * y, 0.0

        solver = lbm.Solver(channel(velocity=follow, body=False), lbm.TRT(0.05))
        for steps in parts:
            solver.step(steps)
        return [solver.populations()]

    alike(run([90]), run([1] * 90))


def test_an_error_stops_the_run_at_its_step() -> None:
    calls = []

    def broken(x: Any, y: Any, t: float) -> Any:
        calls.append(t)
        if t == 37 and len(calls) < 45:
            raise ArithmeticError("nobody knows")
        return (5.0 if t == 40 else 0.01) + 0 * y, 0.0

    solver = lbm.Solver(channel(velocity=broken, body=False), lbm.TRT(0.05), device="cpu")
    reference = lbm.Solver(channel(velocity=(0.01, 0), body=False), lbm.TRT(0.05), device="cpu")
    reference.step(37)
    for _ in range(2):  # the second call asks the function anew
        with pytest.raises(ArithmeticError, match="nobody knows"):
            solver.step(100)
        assert solver.steps == 37
        alike([solver.populations()], [reference.populations()])
    assert calls == [*map(float, range(38)), 37.0]
    calls += [0.0] * 10
    with pytest.raises(ValueError, match=r"^velocity of faces\['-x'\] at t = 40: a speed of 5"):
        solver.step(100)
    assert solver.steps == 40


def test_an_interrupt_in_a_function_leaves_the_steps_to_be_made_again() -> None:
    stops = [True]

    def interrupted(x: Any, y: Any, t: float) -> Any:
        if t == 30 and stops.pop():
            raise KeyboardInterrupt
        return inlet(x, y, t)

    solver = lbm.Solver(channel(velocity=interrupted), lbm.TRT(0.05), device="cpu")
    stops = [True]
    with pytest.raises(KeyboardInterrupt):
        solver.step(64)
    stops = [False]
    solver.step(64 - solver.steps)
    alike([solver.populations()], [states(FLOWS["non-equilibrium"](device="cpu"), (64,))[2]])


@pytest.mark.parametrize("bytes_ahead", [0, 8 * 5 * 150])
def test_memory_bounds_the_steps_ahead(bytes_ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = states(FLOWS["non-equilibrium"](device="cpu"), (40, 3))
    monkeypatch.setattr(boundary, "BYTES_AHEAD", bytes_ahead)
    solver = FLOWS["non-equilibrium"](device="cpu")
    assert (simulation_of(solver).boundary.numbers_ahead > 0) == (bytes_ahead > 0)
    assert simulation_of(solver).boundary.steps_ahead < 10
    alike(states(solver, (40, 3)), expected)


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_ensembles(device: str, request: pytest.FixtureRequest) -> None:
    if device != "cpu":
        request.getfixturevalue("gpu")
    domains = [channel(), channel(body=False), channel(velocity=inlet_by_factor), channel(velocity=(0.01, 0.0))]
    together = lbm.Ensemble(domains, lbm.TRT(0.05), device=device)
    together.step(100)
    for domain, member in zip(domains, together, strict=True):
        alone = lbm.Solver(domain, lbm.TRT(0.05), device="cpu")
        alone.step(100)
        alike([member.populations()], [alone.populations()])


def test_the_engine_refuses_wrong_places() -> None:
    solver = FLOWS["non-equilibrium"](device="cpu")
    engine = simulation_of(solver).engine
    for places in ([3, 2], [-1], [24 * 16], [5, 5]):
        with pytest.raises(ValueError, match="numbers"):
            engine.scale_body("velocity", 0, 0, places=places)
    with pytest.raises(ValueError, match="takes no number"):
        engine.scale_face("number", 0, 0)
