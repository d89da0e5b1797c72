"""Forces times a function of time, which blocks multiply by the factor of each step: the bits are those of a loop that
assigns the force of each step, whatever the model, the layout and the device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine.time_factors import STEPS_AHEAD
from lbmgpu.solver import simulation_of

PULSE = lbm.Sine(mean=0.6, amplitude=0.4, period=37.3, phase=0.2)
RISE = lbm.Ramp(-0.3, 1, 20, shape="cosine", begin=2)
Numbers = np.ndarray[Any, np.dtype[np.float64]]


def field(shape: tuple[int, ...], scale: float = 1e-4) -> Numbers:
    """Of each cell another force, with digits that float32 has not."""
    return scale * np.random.default_rng(7).standard_normal((len(shape), *shape))


def periodic(stencil: str, shape: tuple[int, ...]) -> Callable[..., lbm.Solver]:
    domain = lbm.Domain(shape, stencil=stencil)
    return lambda force, **options: lbm.Solver(domain, lbm.TRT(0.05), force=force, **options)


def stream(scheme: str) -> Callable[..., lbm.Solver]:
    """Between walls and open faces, whose cells take velocities, which have half of the force in them."""

    def make(force: Any, **options: Any) -> lbm.Solver:
        domain = lbm.Domain((24, 16), stencil="D2Q9")
        domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.02, 0.0) * RISE)
        domain.faces["-x"] = lbm.VelocityInlet((0.03, 0.0), scheme=scheme)
        domain.faces["+x"] = lbm.PressureOutlet(scheme="characteristic" if scheme == "characteristic" else None)
        domain.add_body(lambda x, y: (x - 10) ** 2 + (y - 8) ** 2 < 9, "disc")
        return lbm.Solver(domain, lbm.BGK(0.05), force=force, **options)

    return make


def heated(force: Any, **options: Any) -> lbm.Solver:
    """With buoyancy, and temperatures next to a body, which advance with the velocity."""
    domain = lbm.Domain((16, 12), stencil="D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(lbm.Sine(mean=0.7, period=9)), lbm.Isothermal(0.7)
    domain.add_body(np.indices((16, 12))[0] < 3, "heater", thermal=lbm.Isothermal(0.75))
    thermal = lbm.HybridThermal(0.05, reference=0.7, buoyancy=(0, 1e-3))
    return lbm.Solver(domain, lbm.TRT(0.05), thermal=thermal, force=force, **options)


def turbulent(force: Any, **options: Any) -> lbm.Solver:
    domain = lbm.Domain((12, 8, 6), stencil="D3Q19")
    domain.faces["-z"], domain.faces["+z"] = lbm.NoSlip(), lbm.MovingWall((0.02, 0.01, 0))
    return lbm.Solver(domain, lbm.TRT(0.02), turbulence=lbm.WALE(), force=force, **options)


FLOWS: dict[str, tuple[tuple[int, ...], Callable[..., lbm.Solver], dict[str, Any]]] = {
    "float32": ((12, 8), periodic("D2Q9", (12, 8)), {}),
    "float64": ((13, 6, 5), periodic("D3Q27", (13, 6, 5)), {"precision": "float64"}),
    "mixed": ((16, 5, 4), periodic("D3Q19", (16, 5, 4)), {"precision": "float64", "storage": "float32"}),
    "float16": ((32, 4, 4), periodic("D3Q19", (32, 4, 4)), {"storage": "float16"}),
    "non-equilibrium": ((24, 16), stream("non-equilibrium"), {}),
    "regularized": ((24, 16), stream("regularized"), {}),
    "characteristic": ((24, 16), stream("characteristic"), {}),
    "a temperature": ((16, 12), heated, {}),
    "gradients": ((12, 8, 6), turbulent, {}),
}
GIVEN: dict[str, Callable[[tuple[int, ...]], Numbers]] = {
    "uniform": lambda shape: np.array([1.234567e-4, -2.1e-5, 3.3e-5])[: len(shape)],
    "field": field,
}


def states(solver: lbm.Solver) -> list[Numbers]:
    """What depends on the force of the present step, and what on those of the steps before."""
    found = [solver.velocity(), solver.populations()]
    return [*found, solver.temperature()] if simulation_of(solver).has_temperature else found


def alike(ours: list[Numbers], theirs: list[Numbers]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def check(ours: lbm.Solver, theirs: lbm.Solver, fixed: Numbers, parts: tuple[int, ...]) -> None:
    """Our solver has a force times PULSE, theirs the one of step 0."""
    rng = np.random.default_rng(3)
    start = 0.01 * rng.standard_normal(fixed.shape if fixed.ndim > 1 else (fixed.size, *ours.domain.shape))
    for solver in (ours, theirs):
        solver.initialize(velocity=start, nonequilibrium=True)
    alike(states(ours), states(theirs))
    for steps in parts:
        ours.step(steps)
        for _ in range(steps):
            theirs.step(1)
            theirs.force = fixed * PULSE(theirs.steps)
        np.testing.assert_array_equal(ours.force, theirs.force)
        alike(states(ours), states(theirs))


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("name", FLOWS)
def test_bits_are_those_of_forces_that_a_loop_assigns(name: str, kind: str, streaming: str) -> None:
    shape, make, options = FLOWS[name]
    fixed, options = GIVEN[kind](shape), {**options, "streaming": streaming, "device": "cpu"}
    check(make(fixed * PULSE, **options), make(fixed * PULSE(0), **options), fixed, (5, 1, 2))


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("name", FLOWS)
def test_bits_of_a_gpu_are_those_of_the_cpu(name: str, kind: str, streaming: str, gpu: str) -> None:
    """Steps are launched, recorded and replayed, and states are set in between."""
    shape, make, options = FLOWS[name]
    fixed, options = GIVEN[kind](shape), {**options, "streaming": streaming}
    ours, theirs = (make(fixed * PULSE, **options, device=device) for device in (gpu, "cpu"))
    for solver in (ours, theirs):
        solver.initialize(velocity=0.05 * np.ones((len(shape), *shape)))
    for steps in (0, 3, 1, 75, 34, 2):
        for solver in (ours, theirs):
            solver.step(steps)
        alike(states(ours), states(theirs))
        if steps == 75:
            for solver in (ours, theirs):
                solver.initialize(velocity=0.01 * np.ones((len(shape), *shape)))
            alike(states(ours), states(theirs))


@pytest.mark.parametrize("name", ["float32", "non-equilibrium", "a temperature", "gradients"])
def test_no_layout_changes_a_bit(name: str, device: str) -> None:
    shape, make, _ = FLOWS[name]
    fixed = field(shape)
    whole, cut = (1,) * len(shape), (2, 2, 1)[: len(shape)]
    ours, theirs = (
        make(fixed * PULSE, layout=lbm.Layout.split(shape, parts, device=on))
        for parts, on in ((cut, device), (whole, "cpu"))
    )
    for steps in (3, 40, 1):
        for solver in (ours, theirs):
            solver.step(steps)
        alike(states(ours), states(theirs))


@pytest.mark.gpu
def test_a_gpu_and_the_cpu_share_a_domain(gpu: str) -> None:
    shape, make, _ = FLOWS["a temperature"]
    fixed = field(shape)
    layout = lbm.Layout.split(shape, (1, 2), device=[gpu, "cpu"])
    ours, theirs = make(fixed * PULSE, layout=layout), make(fixed * PULSE, device="cpu")
    for steps in (3, 40, 1):
        for solver in (ours, theirs):
            solver.step(steps)
        alike(states(ours), states(theirs))


@pytest.mark.parametrize("kind", GIVEN)
def test_runs_are_longer_than_factors_are_computed_for(kind: str, device: str) -> None:
    shape, make, options = FLOWS["float32"]
    fixed = GIVEN[kind](shape)
    ours, theirs = (make(fixed * PULSE, **options, device=on) for on in (device, "cpu"))
    for steps in (STEPS_AHEAD - 3, 2, 2, STEPS_AHEAD + 7):
        ours.step(steps)
        for _ in range(steps):
            theirs.step(1)
        alike(states(ours), states(theirs))


def test_forces_take_the_place_of_each_other(device: str) -> None:
    """Of all kinds, in the middle of a run."""
    shape, make, options = FLOWS["float32"]
    forces: list[Any] = [
        field(shape) * PULSE,
        (1e-4, 2e-5),
        (1e-4, 2e-5) * RISE,
        field(shape, 2e-5),
        field(shape, 3e-5) * RISE,
        None,
        (lambda x, y: (1e-5 * y, 0 * x)) * PULSE,
        (1e-5, 1e-5) * PULSE,
    ]
    ours, theirs = make(forces[0], **options, device=device), make(None, **options, device="cpu")
    for force in forces:
        ours.force = force
        for steps in (1, 40):
            ours.step(steps)
            for _ in range(steps):
                theirs.force = at(force, shape, theirs.steps)
                theirs.step(1)
            theirs.force = at(force, shape, theirs.steps)
            alike(states(ours), states(theirs))


def at(force: Any, shape: tuple[int, ...], step: int) -> Any:
    """A force at a step, as one that does not change."""
    if not isinstance(force, lbm.Varying):
        return force
    if not callable(force.spatial):
        return force.spatial * force.function(step)
    centres = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
    return np.stack([np.broadcast_to(part, shape) for part in force.spatial(*centres)]) * force.function(step)


@pytest.mark.parametrize("name", ["float32", "characteristic", "a temperature", "gradients"])
def test_a_checkpoint_goes_on_with_the_force_of_its_step(name: str, device: str, tmp_path: Path) -> None:
    shape, make, options = FLOWS[name]
    solver = make(field(shape) * PULSE, **options, device=device)
    solver.step(21)
    solver.save(tmp_path / "state.h5")
    before = states(solver)
    solver.step(40)
    after = states(solver)
    loaded = lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    alike(states(loaded), before)
    loaded.step(40)
    alike(states(loaded), after)
    solver.restore(tmp_path / "state.h5")
    alike(states(solver), before)
    solver.step(40)
    alike(states(solver), after)


@pytest.mark.parametrize("kind", GIVEN)
def test_recorders_see_the_force_of_each_step(kind: str, device: str) -> None:
    """A velocity after t steps takes half of the force of t, as one that is read then."""
    shape, make, options = FLOWS["float32"]
    fixed = GIVEN[kind](shape)
    ours, theirs = (make(fixed * PULSE, **options, device=on) for on in (device, "cpu"))
    probe, mean = ours.record(lbm.Probe([[3.5, 2.5], [7.5, 4.5]], every=2)), ours.record(lbm.Mean("velocity"))
    ours.step(50)
    found, total = [], np.zeros((2, *shape))
    for step in range(1, 51):
        theirs.step(1)
        total += theirs.velocity()
        if step % 2 == 0:
            found.append(theirs.velocity()[:, [3, 7], [2, 4]])
    np.testing.assert_array_equal(probe["velocity"], np.array(found))
    np.testing.assert_allclose(mean["velocity"], total / 50, rtol=1e-12, atol=1e-15)


def test_members_of_an_ensemble_have_fields_of_their_own(device: str) -> None:
    shape = (24, 16)
    forces = [field(shape) * PULSE, field(shape, 3e-5) * RISE, (1e-5, 0.0) * PULSE, field(shape, 1e-5), None]
    domain = lbm.Domain(shape, stencil="D2Q9")
    together = lbm.Ensemble([domain] * len(forces), lbm.TRT(0.05), force=forces, device=device)
    alone = [lbm.Solver(domain, lbm.TRT(0.05), force=force, device="cpu") for force in forces]
    for steps in (1, 50, 2):
        together.step(steps)
        for solver, member in zip(alone, together, strict=True):
            solver.step(steps)
            alike(states(member), states(solver))


def test_the_engine_refuses_wrong_parts_and_factors() -> None:
    engine = simulation_of(lbm.Solver(lbm.Domain((6, 5), stencil="D2Q9"), lbm.TRT(0.05))).engine
    vector = np.array([1e-5, 0.0])
    for series, part, factor in [
        (-1, vector, 1.0),
        (0, np.zeros(3), 1.0),
        (0, np.zeros((2, 6, 5)), 1.0),
        (0, np.array([np.nan, 0.0]), 1.0),
        (0, vector, np.inf),
    ]:
        with pytest.raises(ValueError, match=r"series|part|factor"):
            engine.scale_force(series, part, factor)
    engine.step(1)  # nothing has changed
    engine.set_force_factor(3.0)  # of no force that changes in time
    engine.step(1)
    engine.scale_force(1, vector, 1.0)
    with pytest.raises(RuntimeError, match="factors: none given"):
        engine.step(1)
    with pytest.raises(ValueError, match="must be finite, 2 for each step"):
        engine.set_factors(2, np.ones((3, 1)))
    with pytest.raises(ValueError, match="factor: nan given"):
        engine.set_force_factor(np.nan)
    engine.set_factors(2, np.ones((3, 2)))
    engine.step(2)
    engine.set_force(None)
    engine.step(5)
    multispeed = simulation_of(lbm.Solver(lbm.Domain((8, 8), stencil="D2Q37"), lbm.ThermalBGK(0.1))).engine
    with pytest.raises(ValueError, match="force"):
        multispeed.scale_force(0, vector, 1.0)
