"""Tests the warnings about setups whose storage precision is too low for a correct result.

Also tests that of a temperature only the deviation from its reference is computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm

KELVIN = 293.15


def box(low: float, high: float, shape: tuple[int, ...] = (6, 6)) -> lbm.Domain:
    domain = lbm.Domain(shape, "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(low), lbm.Isothermal(high)
    return domain


def warm(domain: lbm.Domain, reference: float = 0.0, **options: Any) -> lbm.Solver:
    model = lbm.HybridThermal(0.1, reference=reference)
    return lbm.Solver(domain, lbm.TRT(0.1), device="cpu", threads=1, thermal=model, **options)


def quiet(make: Callable[[], Any]) -> Any:
    """What `make` returns, an error if it warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", lbm.LostDigitsWarning)
        return make()


# Temperatures


def test_temperatures_far_from_their_reference_warn_with_the_right_one() -> None:
    message = r"reference: 0 given, but temperatures are from 290.65 to 295.65: .* reference=293.15\)"
    with pytest.warns(lbm.LostDigitsWarning, match=message) as caught:
        warm(box(KELVIN - 2.5, KELVIN + 2.5))
    assert caught[0].filename == __file__
    with pytest.warns(lbm.LostDigitsWarning, match="reference: 293.15 given, but temperatures are from 0 to 5"):
        warm(box(0.0, 5.0), KELVIN)


def test_buoyancy_from_a_distant_reference_warns_where_digits_suffice() -> None:
    def convection(reference: float, buoyancy: tuple[float, float] | None) -> None:
        model = lbm.HybridThermal(0.1, buoyancy=buoyancy, reference=reference)
        lbm.Solver(box(KELVIN - 2.5, KELVIN + 2.5), lbm.TRT(0.1), device="cpu", precision="float64", thermal=model)

    with pytest.warns(lbm.DistantReferenceWarning, match=r"from 290.65 to 295.65: the buoyancy .* reference=293.15\)"):
        convection(0.0, (0.0, 1e-4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        convection(KELVIN, (0.0, 1e-4))
        convection(0.0, None)


def test_temperatures_of_bodies_and_of_the_fluid_count() -> None:
    domain = box(300.0, 300.0)
    made = quiet(lambda: warm(domain))  # of one temperature, of which nothing can be said
    quiet(lambda: made.initialize(temperature=300.0))
    with pytest.warns(lbm.LostDigitsWarning, match="from 300 to 301"):
        made.initialize(temperature=301.0)
    mask = np.zeros((6, 6), bool)
    mask[2:4, 2:4] = True
    around = np.where(mask, 302.0, -1e5)  # outside of the body nothing counts
    domain.add_body(mask, "hot", thermal=lbm.Isothermal(around))
    with pytest.warns(lbm.LostDigitsWarning, match="from 300 to 302"):
        warm(domain)


def test_temperatures_amid_which_the_reference_lies_do_not_warn() -> None:
    for low, high, reference in [(-0.5, 0.5, 0.0), (0.0, 1.0, 0.0), (1.0, 2.0, 0.0), (290.0, 295.0, 293.0)]:
        made = quiet(lambda ends=(low, high), at=reference: warm(box(*ends), at))
        quiet(lambda of=made, t=low: of.initialize(temperature=t))
    quiet(lambda: warm(box(KELVIN - 2.5, KELVIN + 2.5), precision="float64"))
    with pytest.warns(lbm.LostDigitsWarning):
        warm(box(KELVIN - 2.5, KELVIN + 2.5), precision="float64", storage="float32")


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_only_the_deviation_from_the_reference_is_computed(precision: str) -> None:
    """The same bits whatever the reference, where the deviations are the same numbers."""
    found = []
    for reference in (0.0, 512.0):
        domain = box(reference - 2.5, reference + 2.5)
        mask = np.zeros((6, 6), bool)
        mask[2:4, 2:4] = True
        domain.add_body(mask, "hot", thermal=lbm.Isothermal(lambda x, y, t, at=reference: at + t / 8 + 0 * x))
        model = lbm.HybridThermal(0.1, buoyancy=(0, 1e-3), reference=reference, energy_coupling=0.01, source=1e-3)
        made = lbm.Solver(domain, lbm.TRT(0.1), device="cpu", threads=1, thermal=model, precision=precision)
        start = np.random.default_rng(1).integers(-64, 64, (6, 6)) / 32
        made.initialize(temperature=reference + start)
        made.step(20)
        above = made.temperature(above_reference=True)
        assert above.dtype == made.temperature().dtype == precision
        np.testing.assert_array_equal(made.temperature(), (above + np.float64(reference)).astype(precision))
        fluid = ~made.solid
        heat = above[fluid].astype(np.float64).sum() + reference * fluid.sum()
        assert made.heat() == pytest.approx(heat, rel=1e-14)
        flux = made.heat_flux("-x"), made.heat_flux("hot").flux, made.nusselt("+x", 6, 5)
        found.append((above, made.populations(), made._simulation.engine.temperature_change(), *flux))
    for zero, far in zip(*found, strict=True):
        np.testing.assert_array_equal(zero, far)


def test_a_temperature_above_no_reference_is_refused() -> None:
    domain = lbm.Domain((8, 8), "D2Q37")
    gas = lbm.Solver(domain, lbm.ThermalBGK(0.1), precision="float64", device="cpu")
    with pytest.raises(ValueError, match="belong to HybridThermal"):
        gas.temperature(above_reference=True)
    with pytest.raises(TypeError, match="above_reference: 1 given"):
        quiet(lambda: warm(box(0.0, 1.0))).temperature(above_reference=1)


# float16


def channel(cells: int, viscosity: float, storage: str = "float16", peak: float = 0.05) -> lbm.Solver:
    """Driven by the force that gives it this peak."""
    domain = lbm.Domain((4, cells), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    force = (8 * viscosity * peak / cells**2, 0.0)
    return lbm.Solver(domain, lbm.TRT(viscosity), force=force, storage=storage, device="cpu", threads=1)


def sliding(cells: int, viscosity: float, velocity: tuple[float, float] = (0.05, 0.0)) -> lbm.Solver:
    domain = lbm.Domain((4, cells), "D2Q9")
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall(velocity)
    return lbm.Solver(domain, lbm.TRT(viscosity), storage="float16", device="cpu", threads=1)


def test_a_channel_in_float16_warns_where_it_is_more_than_a_percent_off() -> None:
    """By about the error that it then has; the flow starts from rest and settles in these steps."""
    for cells, viscosity, percent in [(8, 0.2, None), (16, 0.2, 2), (32, 0.2, 6)]:
        if percent is None:
            made = quiet(lambda n=cells, nu=viscosity: channel(n, nu))
        else:
            with pytest.warns(lbm.LostDigitsWarning, match=f"^force: .* a channel would be {percent} % off") as caught:
                made = channel(cells, viscosity)
            assert caught[0].filename == __file__
        made.step(int(0.8 * cells**2 / viscosity))
        y = np.arange(cells) + 0.5
        mean = (4 * 0.05 * y * (cells - y) / cells**2).mean()
        error = 100 * abs(made.velocity()[0].mean() / mean - 1)
        assert error < 1 if percent is None else 0.6 * percent < error < 1.4 * percent
    quiet(lambda: channel(32, 0.2, "float32"))


def test_a_force_assigned_later_warns_too() -> None:
    made = quiet(lambda: channel(8, 0.2))
    quiet(lambda: setattr(made, "force", (2e-3, 0)))
    quiet(lambda: setattr(made, "force", None))
    field = np.zeros((2, 64, 64))
    field[1, 20:, :] = 1e-5
    domain = lbm.Domain((64, 64), "D2Q9")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.05, 0)), lbm.Outflow()
    made = quiet(lambda: lbm.Solver(domain, lbm.TRT(0.2), storage="float16", device="cpu"))
    for force in ((1e-5, 0), field):
        with pytest.warns(lbm.LostDigitsWarning, match="^force: 1e-05 .* speed, here about 0.05: .* over 20 %"):
            made.force = force
    quiet(lambda: setattr(made, "force", 100 * field))


def test_a_force_that_walls_hold_does_not_warn() -> None:
    made = quiet(lambda: channel(8, 0.2))
    quiet(lambda: setattr(made, "force", (0, 1e-6)))


def test_bodies_narrow_a_channel() -> None:
    """From 40 cells, in which a viscosity of 1 is too small for a force to keep its digits, to 16."""
    domain = lbm.Domain((4, 40), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    options: dict[str, Any] = {"force": (1e-5, 0), "storage": "float16", "device": "cpu"}
    with pytest.warns(lbm.LostDigitsWarning, match="^force"):
        lbm.Solver(domain, lbm.TRT(1.0), **options)
    mask = np.zeros((4, 40), bool)
    mask[:, :12] = mask[:, -12:] = True
    domain.add_body(mask)
    quiet(lambda: lbm.Solver(domain, lbm.TRT(1.0), **options))


def test_a_small_viscosity_warns_in_float16() -> None:
    message = (
        "^viscosity: 0.05 given with storage='float16', which needs 0.32 for a gap between walls that slide of 16 "
    )
    with pytest.warns(lbm.LostDigitsWarning, match=message):
        sliding(16, 0.05)
    quiet(lambda: sliding(16, 0.35))
    quiet(lambda: sliding(16, 0.05, (0.0, 0.01)))  # it blows, and does not slide
    for shape, viscosity in [((100, 20), 0.13), ((40, 40), 0.021)]:
        domain = box(0, 0, shape) if shape[0] == shape[1] else lbm.Domain(shape, "D2Q9")
        domain.thermal["-x"] = domain.thermal["+x"] = lbm.Adiabatic()
        quiet(lambda of=domain, nu=viscosity: lbm.Solver(of, lbm.BGK(nu), storage="float16", device="cpu"))
        quiet(lambda of=domain, nu=viscosity: lbm.Solver(of, lbm.BGK(nu / 2), device="cpu"))
        with pytest.warns(lbm.LostDigitsWarning, match=f"which needs {viscosity:.1g}.* for waves of {shape[0]} cells"):
            lbm.Solver(domain, lbm.BGK(viscosity / 2), storage="float16", device="cpu")


def test_benchmarks_do_not_warn() -> None:
    from lbmgpu.benchmarks import single as bench  # it imports much

    row = bench.Configuration(stencil="D2Q9", storage="float16", size=128, flow="forced")
    quiet(lambda: bench.make_solver(row, "cpu", 1))
