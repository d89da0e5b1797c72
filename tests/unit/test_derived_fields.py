"""Tests of fields that follow from others: gradients against analytic flows, walls of all kinds, regions, layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm

from . import support

GRADIENT_FIELDS = ("vorticity", "velocity_gradient", "strain_rate", "q_criterion", "dissipation")
FIELDS = ("density", "velocity", "pressure", "speed", *GRADIENT_FIELDS)


def centres(shape: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij"))


def at(domain: lbm.Domain, velocity: Callable[..., Any], **more: Any) -> lbm.Solver:
    """A solver in float64 with this velocity."""
    solver = lbm.Solver(domain, lbm.BGK(0.03), precision="float64", device="cpu", **more)
    solver.initialize(velocity=velocity)
    return solver


def taylor_green(n: int) -> tuple[lbm.Solver, float]:
    k = 2 * np.pi / n

    def velocity(x: Any, y: Any) -> tuple[Any, Any]:
        return 0.02 * np.cos(k * x) * np.sin(k * y), -0.02 * np.sin(k * x) * np.cos(k * y)

    return at(lbm.Domain((n, n), "D2Q9"), velocity), k


def test_gradients_of_taylor_green_vortices_are_of_second_order() -> None:
    errors: dict[str, list[float]] = {}
    for n in (16, 32):
        solver, k = taylor_green(n)
        x, y = centres((n, n))
        u = 0.02 * k
        exact = {
            "vorticity": -2 * u * np.cos(k * x) * np.cos(k * y),
            "q_criterion": u**2 * (np.cos(k * x) ** 2 * np.cos(k * y) ** 2 - np.sin(k * x) ** 2 * np.sin(k * y) ** 2),
            "dissipation": 4 * 0.03 * u**2 * np.sin(k * x) ** 2 * np.sin(k * y) ** 2,
        }
        for name, field in exact.items():
            errors.setdefault(name, []).append(np.abs(getattr(solver, name)() - field).max() / np.abs(field).max())
        strain = solver.strain_rate()
        assert strain.shape == (3, n, n)
        np.testing.assert_allclose(strain[0], -strain[1], atol=1e-15)
        assert np.abs(strain[2]).max() < 1e-15
    for name, (coarse, fine) in errors.items():
        assert 3.7 < coarse / fine < 4.3, name
        assert fine < 0.02, name


def test_vorticity_has_the_sign_and_the_order_of_the_curl() -> None:
    n = 12
    k = 2 * np.pi / n
    zero = np.zeros((n, n, n))
    solver = at(
        lbm.Domain((n, n, n)), lambda x, y, z: (0.01 * np.sin(k * z), 0.01 * np.sin(k * x), 0.01 * np.sin(k * y))
    )
    x, y, z = centres((n, n, n))
    slope = 0.01 * np.sin(k)  # the central difference of the sine
    exact = slope * np.array([np.cos(k * y), np.cos(k * z), np.cos(k * x)])
    np.testing.assert_allclose(solver.vorticity(), exact, atol=1e-14)
    strain = np.array([zero, zero, zero, np.cos(k * x), np.cos(k * y), np.cos(k * z)]) * slope / 2
    np.testing.assert_allclose(solver.strain_rate(), strain, atol=1e-14)
    gradient = solver.velocity_gradient()
    np.testing.assert_allclose(gradient[0, 2], slope * np.cos(k * z), atol=1e-14)
    np.testing.assert_allclose(solver.q_criterion(), -0.5 * np.einsum("ij...,ji...", gradient, gradient), atol=1e-17)
    np.testing.assert_allclose(
        solver.dissipation(),
        0.06 * (strain[:3] ** 2).sum(0) + 0.12 * (strain[3:] ** 2).sum(0),
        atol=1e-17,
    )


def channel(n: int, wall: Any, force: float = 1e-6) -> lbm.Solver:
    """A developed flow in a channel along x, exact to the last digits by the magic parameter."""
    domain = lbm.Domain((3, n), "D2Q9")
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), wall
    solver = lbm.Solver(domain, lbm.TRT(0.5), force=(force, 0.0), precision="float64", device="cpu")
    return solver


def test_gradients_and_wall_shear_of_a_poiseuille_flow_are_exact() -> None:
    n, force, nu = 16, 1e-6, 0.5
    solver = channel(n, lbm.NoSlip(), force)
    y = np.arange(n) + 0.5
    solver.initialize(velocity=lambda x, y: (force / (2 * nu) * y * (n - y), 0 * y))
    solver.run(2000)
    np.testing.assert_allclose(solver.velocity()[0, 1], force / (2 * nu) * y * (n - y), rtol=1e-6)
    np.testing.assert_allclose(solver.vorticity()[1], -force / (2 * nu) * (n - 2 * y), rtol=1e-6)
    for face, row in (("-y", 0), ("+y", -1)):
        stress = solver.wall_shear_stress(face)
        np.testing.assert_allclose(stress[0, :, row], force * n / 2, rtol=1e-6)
        assert np.count_nonzero(stress) == 3
        np.testing.assert_array_equal(solver.wall_shear_stress(face, region=np.s_[:, row]), stress[:, :, row])


def test_wall_shear_of_a_couette_flow_pulls_the_moving_wall_back() -> None:
    n, speed = 10, 0.02
    solver = channel(n, lbm.MovingWall((speed, 0.0)), 0.0)
    solver.initialize(velocity=lambda x, y: (speed * y / n, 0 * y))
    solver.run(500)
    np.testing.assert_allclose(solver.velocity_gradient()[0, 1], speed / n, rtol=1e-8)
    np.testing.assert_allclose(solver.wall_shear_stress("-y")[0, :, 0], 0.5 * speed / n, rtol=1e-6)
    np.testing.assert_allclose(solver.wall_shear_stress("+y")[0, :, -1], -0.5 * speed / n, rtol=1e-6)


def test_walls_of_bodies_are_like_those_of_faces() -> None:
    n = 8
    domain = lbm.Domain((4, n + 4), "D2Q9")
    low, high = np.zeros(domain.shape, bool), np.zeros(domain.shape, bool)
    low[:, :2], high[:, -2:] = True, True
    domain.add_body(low, "low")
    domain.add_body(high, "high", lbm.MovingWall((0.01, 0.0)))
    solver = at(domain, lambda x, y: (0.01 * np.clip((y - 2) / n, 0, 1), 0 * y))
    fluid = ~domain.solid
    np.testing.assert_allclose(solver.vorticity()[fluid], -0.01 / n, rtol=1e-12)
    assert not solver.vorticity()[~fluid].any()
    stress = solver.wall_shear_stress("high")
    np.testing.assert_allclose(stress[0, :, n + 1], -0.03 * 0.01 / n, rtol=1e-12)
    np.testing.assert_allclose(solver.wall_shear_stress("low")[0, :, 2], 0.03 * 0.01 / n, rtol=1e-12)
    assert np.count_nonzero(np.abs(stress) > 1e-18) == 4


@pytest.mark.parametrize(
    "condition",
    [
        lbm.NoSlip(),
        lbm.FreeSlip(),
        lbm.Outflow(),
        lbm.PressureOutlet(),
        lbm.VelocityInlet((0.0, 0.0)),
        lbm.VelocityInlet((0.0, 0.0), scheme="regularized"),
    ],
    ids=lambda condition: f"{type(condition).__name__} {getattr(condition, 'scheme', '')}",
)
def test_gradients_are_of_second_order_beside_every_face(condition: Any) -> None:
    errors = []
    for n in (16, 32):
        domain = lbm.Domain((n, n), "D2Q9")
        domain.faces["-y"] = domain.faces["+y"] = condition
        k, pi = 2 * np.pi / n, np.pi / n
        wave = np.cos if isinstance(condition, lbm.FreeSlip | lbm.Outflow) else np.sin

        def flow(x: Any, y: Any, k: float = k, pi: float = pi, wave: Any = wave) -> tuple[Any, Any]:
            return 0.02 * wave(pi * y) * np.cos(k * x), 0.02 * np.sin(pi * y) * np.sin(k * x)

        solver = at(domain, flow)
        x, y = centres((n, n))
        slope = (lambda a: -np.sin(a)) if wave is np.cos else np.cos
        exact = 0.02 * (k * np.sin(pi * y) * np.cos(k * x) - pi * slope(pi * y) * np.cos(k * x))
        errors.append(np.abs(solver.vorticity() - exact).max() * n)
    assert errors[0] / errors[1] > 3.4


def test_wall_shear_of_a_rotating_cylinder() -> None:
    """Between cylinders of radius a and b the velocity is A r + B / r, and the shear on the inner one 2 mu B / a^2.

    A body of steps shows it in the cells beside it with an error that the documentation tells, and the strain rate one
    cell further out, whose exact value is the same times (a / r)^2, without.
    """
    n = 36
    a, b, centre, speed = n / 6, n / 2.2, n / 2, 0.05

    def radius(x: Any, y: Any) -> Any:
        return np.hypot(x - centre, y - centre)

    domain = lbm.Domain((n, n), "D2Q9")
    turning = lbm.MovingWall(lambda x, y: (-speed * (y - centre) / a, speed * (x - centre) / a))
    domain.add_body(lambda x, y: radius(x, y) < a, "inner", turning)
    domain.add_body(lambda x, y: radius(x, y) > b, "outer")
    strength = speed * a * b**2 / (b**2 - a**2)

    def flow(x: Any, y: Any) -> tuple[Any, Any]:
        r = radius(x, y)
        turn = np.where((r >= a) & (r <= b), strength / np.maximum(r, 1) ** 2 - strength / b**2, 0)
        return -turn * (y - centre), turn * (x - centre)

    solver = lbm.Solver(domain, lbm.TRT(0.1), precision="float64", device="cpu")
    solver.initialize(velocity=flow)
    solver.run(1300)
    x, y = centres((n, n))
    r = radius(x, y)
    out, round_ = np.array([x - centre, y - centre]) / r, np.array([centre - y, x - centre]) / r
    exact = -2 * 0.1 * strength / a**2
    stress = solver.wall_shear_stress("inner")
    cells = np.any(stress != 0, axis=0)
    assert 0.8 < (stress * round_).sum(axis=0)[cells].mean() / exact < 0.9
    assert np.abs((stress * out).sum(axis=0)).max() < 0.2 * abs(exact)
    gradient = solver.velocity_gradient()
    strain = (gradient + gradient.swapaxes(0, 1)) / 2
    shear = 0.2 * np.einsum("i...,ij...,j...", round_, strain, out) * r**2 / a**2
    ring = (r > a + 1) & (r < a + 2)
    assert abs(shear[ring].mean() / exact - 1) < 0.01
    assert shear[ring].std() < 0.05 * abs(exact)


def busy(**more: Any) -> lbm.Solver:
    """A flow past a body in a channel, with walls, an inlet and an outlet."""
    domain = lbm.Domain((20, 12, 9))
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.02, 0.0, 0.01))
    domain.faces["-x"] = lbm.VelocityInlet(lambda x, y, z: (0.02 + 0.001 * y, 0 * y, 0.001 * z))
    domain.faces["+x"] = lbm.PressureOutlet()
    domain.add_body(support.cube(domain.shape, 4, 7), "cube")
    solver = lbm.Solver(domain, lbm.BGK(0.02, smagorinsky=0.15), **({"device": "cpu"} | more))
    solver.step(60)
    return solver


def split_over(device: str, parts: tuple[int, ...]) -> dict[str, Any]:
    """What `busy` takes to have its domain in parts, all on one device."""
    one = "cuda:0" if device == "cuda" else device
    return {"device": "auto", "layout": lbm.Layout.split((20, 12, 9), parts, one)}


@pytest.mark.parametrize("parts", [(2, 2, 1), (1, 3, 2), (4, 1, 3)])
def test_no_layout_or_device_changes_a_bit(parts: tuple[int, ...], device: str) -> None:
    one = busy()
    other = busy(**split_over(device, parts))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name)(), getattr(other, name)(), err_msg=name)
    for where in ("-y", "+y", "cube"):
        np.testing.assert_array_equal(one.wall_shear_stress(where), other.wall_shear_stress(where), err_msg=where)


REGIONS = [
    np.s_[:, :, 4],
    np.s_[5],
    np.s_[..., -1],
    np.s_[3:17:3, ::2, 1:8],
    np.s_[4, 3, 7],
    np.s_[-3:, ..., 0],
    np.s_[np.int64(2), :, :],
]


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_a_region_is_what_the_whole_field_has_there(region: Any, device: str) -> None:
    for more in ({"device": device}, split_over(device, (2, 2, 2))):
        solver = busy(**more)
        entries = region if isinstance(region, tuple) else (region,)
        for name in (*FIELDS, "eddy_viscosity", "populations"):
            whole = getattr(solver, name)()
            index = (*[slice(None)] * (whole.ndim - 3), *(entries if Ellipsis in entries else (*entries, Ellipsis)))
            found = getattr(solver, name)(region=region)
            np.testing.assert_array_equal(found, whole[index], err_msg=name)
            assert found.dtype == np.float32
        stress = solver.wall_shear_stress("cube")
        index = (slice(None), *(entries if Ellipsis in entries else (*entries, Ellipsis)))
        np.testing.assert_array_equal(solver.wall_shear_stress("cube", region=region), stress[index])


@pytest.mark.parametrize(
    ("region", "error", "text"),
    [
        (np.s_[20], ValueError, r"region\[0\]: 20 given, must be from -20 to 19"),
        (np.s_[:, ::-1], ValueError, r"region\[1\]: .* must have a step of at least 1"),
        (np.s_[:, 5:5], ValueError, r"region\[1\]: .* has no cell of the 12"),
        (np.s_[:, :, :, 0], ValueError, "it has 3 axes"),
        (np.s_[..., 1, ...], ValueError, "it has 3 axes"),
        ("all", TypeError, r"region\[0\]: 'all' given, must be a slice"),
        (True, TypeError, r"region\[0\]"),
        (np.s_[0.5:2], TypeError, r"region\[0\]"),
    ],
)
def test_wrong_regions_are_refused(region: Any, error: type[Exception], text: str) -> None:
    solver = busy()
    for name in FIELDS:
        with pytest.raises(error, match=text):
            getattr(solver, name)(region=region)


def test_pressure_speed_and_the_number_of_fluid_cells() -> None:
    solver = busy()
    np.testing.assert_allclose(solver.pressure(), (solver.density() - 1) / 3, rtol=1e-6)
    np.testing.assert_allclose(solver.speed(), np.linalg.norm(solver.velocity(), axis=0), rtol=1e-6)
    assert solver.fluid_cells == 20 * 12 * 9 - 27


def test_dissipation_counts_the_eddy_viscosity() -> None:
    solver = busy()
    strain = solver.strain_rate().astype(float)
    squared = (strain[:3] ** 2).sum(0) + 2 * (strain[3:] ** 2).sum(0)
    np.testing.assert_allclose(
        solver.dissipation(), 2 * (0.02 + solver.eddy_viscosity()) * squared, rtol=1e-4, atol=1e-12
    )


def test_an_ideal_gas_has_its_own_pressure_and_viscosity() -> None:
    domain = lbm.Domain((8, 10), "D2Q37")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(0.72), lbm.Isothermal(0.68)
    solver = lbm.Solver(domain, lbm.ThermalBGK(0.1), precision="float64", device="cpu")
    solver.initialize(
        velocity=lambda x, y: (0.01 * y * (10 - y) / 25, 0 * y), temperature=lambda x, y: 0.72 - 0.004 * y
    )
    np.testing.assert_allclose(solver.pressure(), solver.density() * solver.temperature(), rtol=1e-13)
    gradient = solver.velocity_gradient()[0, 1]
    np.testing.assert_allclose(gradient[1], 0.01 * (10 - 2 * (np.arange(10) + 0.5)) / 25, rtol=1e-6, atol=1e-7)
    cs2 = lbm.stencil("D2Q37").cs2
    np.testing.assert_allclose(
        solver.dissipation(), 0.1 * solver.temperature() / cs2 * gradient**2, rtol=1e-3, atol=1e-12
    )


def test_wrong_walls_are_refused() -> None:
    solver = busy()
    with pytest.raises(ValueError, match="where: '-x' given, must be one of '-y', '\\+y', 'cube'"):
        solver.wall_shear_stress("-x")
    with pytest.raises(TypeError, match="where"):
        solver.wall_shear_stress(3)
