"""Tests values that change in time as a fixed part times a function of time, which the engine multiplies."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine.time_factors import STEPS_AHEAD
from lbmgpu.time_functions.functions import from_record
from lbmgpu.time_functions.product import TimeFunction

PULSE = lbm.Sine(mean=0.6, amplitude=0.4, period=37.3, phase=0.2)
RISE = lbm.Ramp(0.3, 1, 50, shape="cosine", begin=7)
SIGNAL = lbm.Table([0, 5, 17.5, 40], [0.2, 1, -0.4, 0.2], periodic=True)
FUNCTIONS = [PULSE, RISE, SIGNAL, PULSE * RISE, lbm.Ramp(1, 2, 3), lbm.Table([1, 2], [3, 5])]


def profile(*x: Any) -> tuple[Any, ...]:
    return (0.08 * np.sin(0.3 * x[1]) ** 2, *(0.01 for _ in x[1:]))


def in_python(value: lbm.Varying) -> Callable[..., Any]:
    """The same value as a function that Python calls in each step."""

    def evaluated(*x: Any, t: float) -> Any:
        if callable(value.spatial):
            fixed = value.spatial(*x)
            if not isinstance(fixed, tuple):
                return np.multiply(fixed, value.function(t))
            return tuple(np.multiply(part, value.function(t)) for part in fixed)
        return value.spatial * value.function(t)

    return evaluated


# The functions


def test_sine() -> None:
    sine = lbm.Sine(mean=1, amplitude=2, period=8, phase=math.pi / 2)
    assert [sine(t) for t in (0, 2, 4)] == pytest.approx([3, 1, -1])
    assert lbm.Sine(1, 2, 8, math.pi / 2) == sine
    assert sine(8 * 10**9 + 3) == sine(3)  # no digits are lost late


@pytest.mark.parametrize(("shape", "quarter"), [("linear", 0.25), ("smooth", 0.15625), ("cosine", 0.1464466094067262)])
def test_ramp(shape: str, quarter: float) -> None:
    ramp = lbm.Ramp(2, 6, 100, shape=shape, begin=10)
    assert [ramp(t) for t in (0, 10, 60, 110, 1e9)] == pytest.approx([2, 2, 4, 6, 6])
    assert ramp(35) == pytest.approx(2 + 4 * quarter)
    assert ramp(110) == 6


def test_table_is_clamped_or_periodic() -> None:
    times, numbers = [3.0, 4.0, 8.0], [1.0, 5.0, 1.0]
    once, again = lbm.Table(times, numbers), lbm.Table(np.array(times), np.array(numbers), periodic=True)
    t = np.arange(0, 30, 0.25)
    assert [once(x) for x in t] == pytest.approx(np.interp(t, times, numbers))
    assert [again(x) for x in t] == pytest.approx(np.interp(3 + (t - 3) % 5, times, numbers))


def test_a_sampled_sine_is_periodic() -> None:
    t = np.linspace(0, 600, 61)
    sine = lbm.Table(t, 0.05 * np.sin(2 * np.pi * t / 600), periodic=True)
    assert sine(600.0) == sine(0.0) == sine.values[-1] == 0
    with pytest.raises(ValueError, match="must be equal if the table is periodic"):
        lbm.Table([0, 1, 2], [0, 1, 1e-9], periodic=True)


@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_functions_are_values(function: TimeFunction) -> None:
    for other in (copy.deepcopy(function), pickle.loads(pickle.dumps(function)), from_record(function.record())):
        assert other == function
        assert hash(other) == hash(function)
        assert [other(t) for t in range(60)] == [function(t) for t in range(60)]
    assert from_record(json.loads(json.dumps(function.record()))) == function
    assert function.factors(7, 5).tolist() == [function(float(t)) for t in range(7, 12)]
    assert function != lbm.Sine(period=1)


def test_products() -> None:
    array = np.arange(6.0).reshape(2, 3)
    for value in (array * PULSE, PULSE * array, PULSE * array.tolist(), array.tolist() * PULSE):
        assert isinstance(value, lbm.Varying)
        assert value == array * PULSE
        assert not value.spatial.flags.writeable
    assert 2.0 * ((1, 0) * PULSE) * RISE == (2, 0) * (PULSE * RISE)
    assert np.float64(2) * PULSE == 2 * PULSE
    assert 2 * PULSE * (1, 0) == (1, 0) * (2 * PULSE) == PULSE * 2 * (1, 0) == (2, 0) * PULSE
    assert profile * PULSE == PULSE * profile != profile * RISE
    assert pickle.loads(pickle.dumps(array * PULSE)) == array * PULSE
    assert lbm.MovingWall((1, 0) * PULSE) == lbm.MovingWall((1, 0) * PULSE) != lbm.MovingWall((1, 1) * PULSE)
    for wrong in (lambda: (1, 0) * PULSE * profile, lambda: (profile * PULSE) * 2.0, lambda: (2 * PULSE) * (3 * RISE)):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: lbm.Sine(period=0), ValueError, "^period: 0 given, must be a finite number above 0"),
        (lambda: lbm.Sine(period=-3), ValueError, "^period"),
        (lambda: lbm.Sine(0, 1), TypeError, "^period: none given, must be the steps"),
        (lambda: lbm.Sine(period=5, mean=math.nan), ValueError, "^mean: nan given"),
        (lambda: lbm.Sine(period=5, amplitude="2"), TypeError, "^amplitude"),
        (lambda: lbm.Ramp(0, 1, 0), ValueError, "^steps"),
        (lambda: lbm.Ramp(0, math.inf, 10), ValueError, "^end"),
        (lambda: lbm.Ramp(0, 1, 10, shape="sudden"), ValueError, "^shape.*linear"),
        (lambda: lbm.Table([0, 1, 1], [1, 2, 3]), ValueError, r"^times: 1 given after 1 \(number 2\), must increase"),
        (lambda: lbm.Table([0, 2, 1], [1, 2, 3]), ValueError, "^times: 1 given after 2"),
        (lambda: lbm.Table([0, math.nan], [1, 2]), ValueError, "^times: nan given at index"),
        (lambda: lbm.Table([0, 1], [1, math.nan]), ValueError, "^values: nan"),
        (lambda: lbm.Table([0, 1], [1, 2, 3]), ValueError, "^values: 3 given"),
        (lambda: lbm.Table([0], [1]), ValueError, "^times: shape"),
        (lambda: lbm.Table([0, 1], [1, 2], periodic=True), ValueError, "must be equal if the table is periodic"),
        (lambda: [1, math.nan] * PULSE, ValueError, "^value: nan"),
        (lambda: "no" * PULSE, TypeError, "^value"),
        (lambda: (lambda x, y, t: (x, y)) * PULSE, TypeError, "must not take t beside"),
        (lambda: (1, 0) * PULSE * (1, 2), ValueError, r"^factor: .* must be a number beside"),
        (lambda: (lambda x, y: (x, y)) * PULSE * 2, TypeError, "^factor: 2 given .* must be a function of time"),
        (lambda: 2 * PULSE * (lambda x, y: (x, y)), TypeError, "^factor: .* must be a function of time"),
        (lambda: lbm.MovingWall(PULSE), TypeError, "^velocity: Sine.* must be the product"),
        (lambda: lbm.MovingWall(0.1 * PULSE), TypeError, "must have a vector"),
        (lambda: lbm.HybridThermal(0.1, source=PULSE), TypeError, "^source: .*must not change in time"),
        (lambda: from_record({"sine": {"period": 0}}), ValueError, "^period"),
        (lambda: from_record({"cosine": {}}), ValueError, "must be one of sine, ramp, table"),
        (lambda: from_record([]), TypeError, "must name one kind"),
        (lambda: lbm.Table([0, 1], [1e308, 1e308]) * lbm.Ramp(10, 10, 1), None, ""),
    ],
)
def test_what_is_refused(make: Callable[[], Any], error: type[Exception] | None, match: str) -> None:
    if error is None:
        with pytest.raises(ValueError, match=r"inf at t = 3, must be finite"):
            make().factors(3, 2)
        return
    with pytest.raises(error, match=match):
        make()


# What the engine makes of them

CONDITIONS: dict[str, dict[str, Any]] = {
    "wall": {
        "+y": lambda v: lbm.MovingWall(v((0.07, 0.0) * PULSE)),
        "-y": lambda v: lbm.MovingWall(v((0.05, 0) * RISE)),
    },
    "inlet": {
        "-x": lambda v: lbm.VelocityInlet(v(profile * PULSE)),
        "+x": lambda v: lbm.PressureOutlet(v(lbm.Varying(1, lbm.Sine(mean=1, amplitude=0.01, period=11)))),
    },
    "array": {
        "-x": lambda v: lbm.VelocityInlet(v(np.linspace(0, 0.1, 32).reshape(2, 16) * SIGNAL)),
        "+x": lambda v: lbm.Outflow(),
    },
    **{
        scheme: {
            "-x": lambda v, scheme=scheme: lbm.VelocityInlet(v(profile * PULSE), scheme=scheme),
            "+x": lambda v: lbm.PressureOutlet(v(lbm.Varying(1, lbm.Sine(mean=1, amplitude=0.01, period=11)))),
        }
        for scheme in ("non-equilibrium", "regularized", "characteristic")
    },
}


def channel(name: str, value: Callable[[lbm.Varying], Any], body: bool = True) -> lbm.Domain:
    domain = lbm.Domain((24, 16), stencil="D2Q9")
    for face in ("-y", "+y"):
        domain.faces[face] = lbm.NoSlip()
    for face, make in CONDITIONS[name].items():
        domain.faces[face] = make(value)
    if body:
        domain.add_body(
            lambda x, y: (x - 10) ** 2 + (y - 8) ** 2 < 9,
            "paddle",
            lbm.MovingWall(value((lambda x, y: (0.01 * (8 - y), 0.01 * (x - 10))) * SIGNAL)),
        )
    return domain


def states(domain: lbm.Domain, parts: tuple[int, ...] = (40, 1, 3, 30), **options: Any) -> list[np.ndarray[Any, Any]]:
    solver = lbm.Solver(domain, lbm.TRT(0.05), **options)
    found = []
    for steps in parts:
        solver.step(steps)
        found.append(solver.populations())
        if domain.bodies:
            found += [solver.body_force("paddle"), solver.velocity()]
    return found


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("name", CONDITIONS)
def test_bits_are_those_of_a_function_of_python(name: str, streaming: str) -> None:
    for options in ({}, {"precision": "float64"}, {"layout": lbm.Layout.split((24, 16), (2, 2))}):
        if options.get("layout") is not None and name == "characteristic":
            options = {"layout": lbm.Layout.split((24, 16), (2, 1))}
        ours = states(channel(name, lambda value: value), streaming=streaming, **options)
        theirs = states(channel(name, in_python), streaming=streaming, **options)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("name", CONDITIONS)
def test_bits_of_a_gpu_are_those_of_the_cpu(name: str, streaming: str, gpu: str) -> None:
    parts = (40, 1, 3, 200, STEPS_AHEAD)  # recorded and replayed, and past the factors that there are at first
    domain = channel(name, lambda value: value)
    ours, cpu = (states(domain, parts, streaming=streaming, device=device) for device in (gpu, "cpu"))
    for a, b in zip(ours, cpu, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("model", [None, lbm.WALE(), lbm.Vreman()], ids=["none", "WALE", "Vreman"])
def test_three_dimensions_and_a_turbulence_model_of_gradients(model: Any, device: str) -> None:
    """The bits are those of a function of Python, and on a GPU those of the CPU."""

    def domain(value: Callable[[lbm.Varying], Any]) -> lbm.Domain:
        box = lbm.Domain((10, 8, 6), stencil="D3Q19")
        box.faces["-x"] = lbm.VelocityInlet(value(profile * PULSE))
        box.faces["+x"] = lbm.PressureOutlet()
        box.faces["+z"] = box.faces["-z"] = lbm.MovingWall(value((0.02, 0.01, 0) * RISE))
        box.add_body(np.indices((10, 8, 6))[1] < 2, "paddle", lbm.MovingWall(value((0.02, 0, 0.01) * SIGNAL)))
        return box

    def found(value: Callable[[lbm.Varying], Any], on: str) -> list[np.ndarray[Any, Any]]:
        # Forces on moving bodies are sums, whose order differs between devices.
        solver = lbm.Solver(domain(value), lbm.TRT(0.05), turbulence=model, device=on)
        all_found = []
        for steps in (40, 1, 3, 30):
            solver.step(steps)
            all_found += [solver.populations(), solver.velocity()]
        return all_found

    ours = found(lambda v: v, device)
    for theirs in (found(in_python, device), *([found(lambda v: v, "cpu")] if device != "cpu" else [])):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("stencil", ["D2Q9", "D2Q37"])
def test_temperatures(stencil: str, device: str) -> None:
    """The bits are those of a function of Python, and on a GPU those of the CPU."""
    cold, hot = lbm.Sine(mean=0.72, amplitude=0.01, period=13), np.linspace(0.69, 0.7, 16)

    def run(value: Callable[[lbm.Varying], Any], on: str) -> list[Any]:
        domain = lbm.Domain((16, 12), stencil=stencil)
        domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
        domain.thermal["-y"] = lbm.Isothermal(value(lbm.Varying(1, cold)))
        domain.thermal["+y"] = lbm.Isothermal(value(hot * lbm.Ramp(1, 1.02, 30)))
        if stencil == "D2Q9":
            thermal = lbm.HybridThermal(0.05, reference=0.7, buoyancy=(0, 1e-3))
            domain.add_body(
                np.indices((16, 12))[0] < 3, "heater", thermal=lbm.Isothermal(value(lbm.Varying(0.7, RISE)))
            )
            solver = lbm.Solver(domain, lbm.TRT(0.05), thermal=thermal, device=on)
        else:
            solver = lbm.Solver(domain, lbm.ThermalBGK(0.1), device=on)
        found = []
        for steps in (20, 1, 83):  # recorded and replayed on a GPU
            solver.step(steps)
            found += [solver.temperature(), solver.velocity()]
            if stencil == "D2Q9":
                found.append(solver.heat_flux("-y"))
        return found

    ours = run(lambda v: v, device)
    for theirs in (run(in_python, device), *([run(lambda v: v, "cpu")] if device != "cpu" else [])):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("field", [False, True])
def test_forces_are_those_that_a_loop_assigns(field: bool, device: str) -> None:
    fixed = np.stack([np.full((12, 8), 1e-4), 1e-5 * np.indices((12, 8))[0]]) if field else np.array([1e-4, 2e-5])
    box = lbm.Domain((12, 8), stencil="D2Q9")
    ours = lbm.Solver(box, lbm.TRT(0.05), force=fixed * PULSE, device=device)
    theirs = lbm.Solver(box, lbm.TRT(0.05), force=fixed * PULSE(0), device=device)
    for solver in (ours, theirs):
        solver.initialize(velocity=(0.01, 0.02), nonequilibrium=True)
    for steps in (5, 1, 2):
        ours.step(steps)
        for _ in range(steps):
            theirs.step(1)
            theirs.force = fixed * PULSE(theirs.steps)
        np.testing.assert_array_equal(ours.force, theirs.force)
        np.testing.assert_array_equal(ours.velocity(), theirs.velocity())
        np.testing.assert_array_equal(ours.populations(), theirs.populations())
    ours.force = theirs.force = (1e-5, 0.0)
    ours.step(3)
    theirs.step(3)
    np.testing.assert_array_equal(ours.populations(), theirs.populations())
    ours.force = lambda x, y: (0 * x, 1e-5 * x)
    ours.force = (lambda x, y: (0 * x, 1e-5 * x)) * RISE
    ours.step(2)
    assert ours.force.shape == (2, 12, 8)


def test_longer_runs_than_factors_are_computed_for() -> None:
    parts = (STEPS_AHEAD - 3, 5, 2 * STEPS_AHEAD + 7)
    domain = lambda value: channel("inlet", value, body=False)  # noqa: E731
    for a, b in zip(states(domain(lambda v: v), parts), states(domain(in_python), parts), strict=True):
        np.testing.assert_array_equal(a, b)


def test_initial_states_begin_anew_and_values_mix_with_functions() -> None:
    domain = channel("inlet", lambda v: v)
    domain.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.01 * math.sin(t), 0.0))
    solver = lbm.Solver(domain, lbm.TRT(0.05))
    solver.step(17)
    first = solver.populations(), solver.velocity()
    solver.step(8)
    solver.initialize()
    assert solver.velocity()[:, 10, 8].tolist() != first[1][:, 10, 8].tolist()
    solver.step(17)
    np.testing.assert_array_equal(solver.populations(), first[0])
    np.testing.assert_array_equal(solver.velocity(), first[1])


def test_ensembles(device: str) -> None:
    def make(period: float) -> lbm.Domain:
        domain = lbm.Domain((24, 16), stencil="D2Q9")
        domain.faces["-x"] = lbm.VelocityInlet(profile * lbm.Sine(mean=1, amplitude=0.2, period=period))
        domain.faces["+x"] = lbm.PressureOutlet()
        return domain

    domains = [make(period) for period in (11.0, 23.0, 40.0)]
    forces = [(1e-5, 0.0) * SIGNAL, (2e-5, 0.0) * RISE, None]
    together = lbm.Ensemble(domains, lbm.TRT(0.05), force=forces, device=device)
    together.step(60)
    for domain, force, member in zip(domains, forces, together, strict=True):
        alone = lbm.Solver(domain, lbm.TRT(0.05), force=force, device="cpu")
        alone.step(60)
        np.testing.assert_array_equal(member.populations(), alone.populations())


def test_a_value_out_of_range_stops_the_run_at_its_step() -> None:
    domain = lbm.Domain((8, 8), stencil="D2Q9")
    domain.faces["+y"] = lbm.MovingWall((0.1, 0) * lbm.Ramp(1, 3, 200))
    domain.faces["-y"] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.TRT(0.05))
    with pytest.raises(ValueError, match=r"^velocity of faces\['\+y'\] at t = 74: a speed of 0.174 given"):
        solver.step(100)
    assert solver.steps == 74
    solver = lbm.Solver(lbm.Domain((8, 8), stencil="D2Q9"), lbm.TRT(0.05), force=(0.1, 0) * lbm.Ramp(1, 11, 10))
    with pytest.raises(ValueError, match=r"^force at t = 10: 1.1 given, must be at most 1"):
        solver.step(100)
    with pytest.raises(ValueError, match=r"^velocity of faces\['\+y'\].*must be shape"):
        domain.faces["+y"] = lbm.MovingWall(np.zeros((2, 3)) * PULSE)
    with pytest.raises(ValueError, match=r"^density of faces"):
        domain.faces["+x"] = lbm.PressureOutlet(np.ones(3) * PULSE)
    domain.faces["-x"] = domain.faces["+x"] = lbm.PressureOutlet(lbm.Sine(period=9))
    with pytest.raises(ValueError, match=r"^density of faces.*at t = 0"):
        lbm.Solver(domain, lbm.TRT(0.05))


@pytest.mark.parametrize("name", ["wall", "inlet", "array", "characteristic"])
def test_checkpoints_hold_them(name: str, tmp_path: Path) -> None:
    fixed = 1e-5 * np.ones((2, 24, 16))
    solver = lbm.Solver(channel(name, lambda v: v), lbm.TRT(0.05), force=fixed * PULSE)
    solver.step(31)
    solver.save(tmp_path / "state.h5")
    solver.step(20)
    loaded = lbm.Solver.load(tmp_path / "state.h5")
    assert isinstance(loaded.domain.bodies["paddle"].condition.velocity, lbm.Varying)
    loaded.step(20)
    np.testing.assert_array_equal(solver.populations(), loaded.populations())
    np.testing.assert_array_equal(solver.force, loaded.force)
    np.testing.assert_array_equal(solver.velocity(), loaded.velocity())
    solver.restore(tmp_path / "state.h5")
    np.testing.assert_array_equal(solver.velocity(), lbm.Solver.load(tmp_path / "state.h5").velocity())
    solver.step(20)
    np.testing.assert_array_equal(solver.populations(), loaded.populations())
    other = lbm.Solver(channel(name, lambda v: lbm.Varying(v.spatial, RISE)), lbm.TRT(0.05), force=fixed * PULSE)
    with pytest.raises(lbm.CheckpointError, match="period"):
        other.restore(tmp_path / "state.h5")


def test_the_engine_refuses_wrong_parts_and_factors() -> None:
    from lbmgpu.solver import simulation_of

    domain = lbm.Domain((6, 5), stencil="D2Q9")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.01, 0)), lbm.PressureOutlet()
    engine = simulation_of(lbm.Solver(domain, lbm.TRT(0.05))).engine
    number, vector = np.array(1.0), np.array([0.01, 0.0])
    for value, face, series, part in [
        ("velocity", 1, 0, vector),
        ("number", 0, 0, number),
        ("number", 1, -1, number),
        ("velocity", 0, 0, np.zeros((2, 4))),
        ("temperature", 0, 0, number),
        ("pressure", 1, 0, number),
    ]:
        with pytest.raises(ValueError, match=r".+"):
            engine.scale_face(value, face, series, part)
    with pytest.raises(IndexError):
        engine.scale_body("velocity", 0, 0, vector)
    engine.step(2)  # nothing has changed
    engine.scale_face("number", 1, 1, number)
    with pytest.raises(RuntimeError, match="factors: none given"):
        engine.step(1)
    for table in (np.ones((3, 1)), np.ones(3), np.ones((3, 3)), np.full((3, 2), np.inf)):
        with pytest.raises(ValueError, match=r"factors|table"):
            engine.set_factors(2, table)
    engine.set_factors(2, np.ones((3, 2)))
    engine.step(2)
    with pytest.raises(RuntimeError, match="factors: none given"):
        engine.step(1)


def test_a_temperature_that_is_scaled_anew_forgets_the_factor_before() -> None:
    from lbmgpu.solver import simulation_of

    def solver() -> lbm.Solver:
        domain = lbm.Domain((8, 6), stencil="D2Q9")
        domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
        domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(0.1), lbm.Isothermal(0.0)
        domain.add_body(np.indices((8, 6))[0] < 2, "heater", thermal=lbm.Isothermal(0.2))
        return lbm.Solver(domain, lbm.TRT(0.05), thermal=lbm.HybridThermal(0.05))

    ours, theirs = solver(), solver()
    engine = simulation_of(ours).engine
    for series, part in ((1, 0.7), (0, 0.3)):  # the first call alone needs two factors of each step
        engine.scale_face("temperature", 2, series, np.array(part))
        engine.scale_body("temperature", 0, series, np.array(part))
    engine.set_factors(0, np.full((6, 1), 0.5))
    engine.step(5)
    reference = simulation_of(theirs).engine
    reference.set_face_temperature(2, np.array(0.15))
    reference.set_body_temperature(0, np.array(0.15))
    reference.step(5)
    np.testing.assert_array_equal(ours.temperature(), theirs.temperature())
