"""Tests of initial fields by name and from files: formulas, noise that no layout changes, cases, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import flows
from lbmgpu.case import run_case
from lbmgpu.errors import CaseError


def centres(shape: tuple[int, ...]) -> list[np.ndarray]:
    return np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")


def values(field: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.stack([np.broadcast_to(part, shape) for part in field(*centres(shape))])


def divergence(velocity: np.ndarray) -> np.ndarray:
    """Of a periodic field of few waves, by Fourier series."""
    shape = velocity.shape[1:]
    total = np.zeros(shape, dtype=complex)
    for axis, part in enumerate(velocity):
        k = 2j * np.pi * np.fft.fftfreq(shape[axis])
        total += np.fft.fftn(part) * k.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    return np.fft.ifftn(total).real


@pytest.mark.parametrize("shape", [(32, 32), (48, 24), (16, 16, 16), (24, 16, 12)])
def test_taylor_green_vortices_are_free_of_divergence(shape: tuple[int, ...]) -> None:
    velocity = values(flows.TaylorGreen(shape, 0.05, waves=2), shape)
    assert np.abs(divergence(velocity)).max() < 1e-14
    assert 0.038 < np.abs(velocity[0]).max() <= 0.05
    np.testing.assert_allclose(velocity.reshape(len(shape), -1).mean(axis=1), 0, atol=1e-16)


def test_taylor_green_vortices_decay_by_the_viscosity() -> None:
    n, viscosity = 48, 0.02
    field, density = flows.TaylorGreen((n, n), 0.03), flows.TaylorGreenDensity((n, n), 0.03)
    solver = lbm.Solver(lbm.Domain((n, n), "D2Q9"), lbm.BGK(viscosity), precision="float64", device="cpu", threads=1)
    solver.initialize(density=density, velocity=field, nonequilibrium=True)
    before, sound = solver.kinetic_energy(), solver.density()
    solver.step(300)
    decay = np.log(before / solver.kinetic_energy()) / 300
    assert decay / (4 * (2 * np.pi / n) ** 2) == pytest.approx(viscosity, rel=2e-3)
    scale = np.exp(-300 * decay)  # the pressure falls with the energy
    np.testing.assert_allclose(solver.density() - 1, scale * (sound - 1), atol=2e-2 * np.ptp(sound))


@pytest.mark.parametrize("shape", [(32, 32), (40, 20), (24, 24, 24)])
def test_the_density_of_vortices_solves_the_equation_of_pressure(shape: tuple[int, ...]) -> None:
    velocity = values(flows.TaylorGreen(shape, 0.04), shape)
    density = np.broadcast_to(flows.TaylorGreenDensity(shape, 0.04)(*centres(shape)), shape)
    k = [
        2j * np.pi * np.fft.fftfreq(n).reshape([-1 if other == axis else 1 for other in range(len(shape))])
        for axis, n in enumerate(shape)
    ]
    slopes = [[np.fft.ifftn(np.fft.fftn(u) * along).real for along in k] for u in velocity]
    axes = range(len(shape))
    wanted = -sum(slopes[i][j] * slopes[j][i] for i in axes for j in axes)
    laplacian = np.fft.ifftn(np.fft.fftn(density / 3) * sum(along**2 for along in k)).real
    np.testing.assert_allclose(laplacian, wanted, atol=1e-14)


def test_shear_layers_have_their_formulas() -> None:
    shape = (40, 60)
    x, y = centres(shape)
    u, v = values(flows.ShearLayer(shape, 0.05, 3, perturbation=0.1, waves=2), shape)
    np.testing.assert_allclose(u, 0.05 * np.tanh((y - 30) / 3))
    np.testing.assert_allclose(v, 0.005 * np.sin(4 * np.pi * x / 40) * np.exp(-(((y - 30) / 3) ** 2)))
    u, v = values(flows.DoubleShearLayer(shape, 0.05, 0.75), shape)
    np.testing.assert_allclose(u, 0.05 * np.tanh(np.where(y <= 30, y - 15, 45 - y) / 0.75))
    np.testing.assert_allclose(v, 0.05 * 0.05 * np.sin(2 * np.pi * (x / 40 + 0.25)))


def test_profiles_have_their_formulas() -> None:
    shape = (6, 10, 8)
    _, y, z = centres(shape)
    duct = values(flows.Parabolic(shape, 0.06, direction="x", across=("y", "z")), shape)
    np.testing.assert_allclose(duct[0], 0.06 * 16 * (y / 10) * (1 - y / 10) * (z / 8) * (1 - z / 8))
    assert not duct[1:].any()
    channel = values(flows.PowerLaw(shape, -0.06, direction="z", across=["y"], exponent=0.2), shape)
    np.testing.assert_allclose(channel[2], -0.06 * (1 - np.abs(2 * y / 10 - 1)) ** 0.2)
    assert not channel[:2].any()


def test_a_linear_temperature_has_a_wave_between_the_walls() -> None:
    shape = (20, 10)
    x, y = centres(shape)
    field = flows.Linear(shape, 1.0, -1.0, along="y", perturbation=0.05, waves=2)
    wanted = 1 - 2 * y / 10 + 0.05 * np.sin(np.pi * y / 10) * np.cos(4 * np.pi * x / 20)
    np.testing.assert_allclose(field(x, y), wanted)
    np.testing.assert_allclose(flows.Linear(shape, 0.0, 2.0, along="x")(x, y), x / 10)


def test_layers_meet_in_a_wave_and_a_gas_is_at_rest_in_them() -> None:
    shape = (20, 60)
    x, y = centres(shape)
    field = flows.Layers(shape, 1.2, 0.8, at=0.4, thickness=1.5, amplitude=2.0, waves=2)
    wanted = 1 - 0.2 * np.tanh((y - 24 - 2 * np.cos(4 * np.pi * x / 20)) / 1.5)
    np.testing.assert_allclose(field(x, y), wanted)
    given = {"low": 1.2, "high": 0.8, "at": 0.4, "thickness": 3.0}
    fine = np.linspace(0, 60, 60001)
    density = flows.LayersDensity(shape, gravity=0.01, **given)(np.zeros_like(fine), fine)
    temperature = flows.Layers(shape, **given)(np.zeros_like(fine), fine)
    assert density[24000] == pytest.approx(1)
    np.testing.assert_allclose(np.gradient(density * temperature, fine)[1:-1], -0.01 * density[1:-1], rtol=1e-6)
    turned = flows.LayersDensity(shape[::-1], gravity=0.01, along="x", **given)
    np.testing.assert_allclose(turned(fine, np.zeros_like(fine)), density)


def test_noise_is_even_and_independent() -> None:
    shape = (40, 30, 20)
    field = values(flows.Noise((0.1, 0.0, 0.0), 0.01, seed=7), shape) - np.reshape([0.1, 0, 0], (3, 1, 1, 1))
    assert np.abs(field).max() <= 0.01
    np.testing.assert_allclose(field.mean(axis=(1, 2, 3)), 0, atol=2e-4)
    np.testing.assert_allclose(field.std(axis=(1, 2, 3)), 0.01 / np.sqrt(3), rtol=0.02)
    flat = field.reshape(3, -1)
    for one, other in [(flat[0], flat[1]), (flat[1], flat[2]), (flat[0, 1:], flat[0, :-1])]:
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
    assert len(np.unique(field)) == field.size


def test_noise_depends_on_the_seed_and_on_the_cell_alone() -> None:
    shape = (12, 9)
    x, y = centres(shape)
    noise = flows.Noise(1.0, 0.1, seed=3)
    whole = noise(x, y)
    np.testing.assert_array_equal(noise(x[4:7, 2:5], y[4:7, 2:5]), whole[4:7, 2:5])
    np.testing.assert_array_equal(flows.Noise(lambda x, y: 1.0, 0.1, seed=3)(x, y), whole)
    assert (flows.Noise(1.0, 0.1, seed=4)(x, y) != whole).all()


def test_noise_is_the_same_in_any_blocks() -> None:
    shape = (16, 12)
    field = flows.Noise(flows.TaylorGreen(shape, 0.03), 0.01, seed=5)
    states = []
    for layout in (None, lbm.Layout.split(shape, (2, 3))):
        options = {"device": "cpu"} if layout is None else {"layout": layout}
        solver = lbm.Solver(lbm.Domain(shape, "D2Q9"), lbm.BGK(0.1), threads=1, **options)  # type: ignore[arg-type]
        solver.initialize(velocity=field, nonequilibrium=True)
        states.append(solver.populations())
    np.testing.assert_array_equal(*states)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: flows.TaylorGreen((8,), 0.1), ValueError, r"shape: \(8,\) given, must have 2 or 3"),
        (lambda: flows.TaylorGreen((8, 0), 0.1), ValueError, "shape: 0 given"),
        (lambda: flows.TaylorGreen((8, 8), "fast"), TypeError, "speed: 'fast' given"),
        (lambda: flows.TaylorGreen((8, 8), 0.1, waves=0), ValueError, "waves: 0 given"),
        (lambda: flows.TaylorGreenDensity((8, 8, 4), 0.1), ValueError, "must be that of a cube"),
        (lambda: flows.ShearLayer((8, 8), 0.1, 0), ValueError, "thickness: 0 given"),
        (lambda: flows.Parabolic((8, 8), 0.1, direction="z"), ValueError, "direction: 'z' given"),
        (lambda: flows.Parabolic((8, 8), 0.1, across=["x"]), ValueError, r"across: \['x'\] given, must be other axes"),
        (lambda: flows.PowerLaw((8, 8), 0.1, exponent=0), ValueError, "exponent: 0 given"),
        (lambda: flows.Linear((8, 8), 0, 1, along="z"), ValueError, "along: 'z' given"),
        (lambda: flows.Layers((8, 8), 0, 1, thickness=0), ValueError, "thickness: 0 given"),
        (lambda: flows.LayersDensity((8, 8), 0, 1, gravity=1e-3), ValueError, "low: 0.* given"),
        (lambda: flows.Noise(1.0, -1), ValueError, "amplitude: -1 given"),
        (lambda: flows.Noise(np.ones((3, 3)), 1), ValueError, "field: an array of .* must be a number, a vector"),
        (lambda: flows.Noise(1.0, 1, seed=0.5), TypeError, "seed: 0.5 given"),
        (lambda: flows.TaylorGreen((8, 8), 0.1)(*centres((4, 4, 4))), ValueError, "the solver has 3 dimensions"),
    ],
)
def test_wrong_arguments_are_named(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


# Files

SHAPE = (10, 8)
VELOCITY = 0.01 * np.random.default_rng(2).standard_normal((2, *SHAPE))
DENSITY = 1 + 0.01 * np.random.default_rng(3).standard_normal(SHAPE)


def made(**initial: Any) -> lbm.Solver:
    solver = lbm.Solver(lbm.Domain(SHAPE, "D2Q9"), lbm.BGK(0.1), precision="float64", device="cpu", threads=1)
    solver.initialize(**initial)
    return solver


def write(path: Path) -> Path:
    """Both fields, in a file of the kind that the ending of its name says."""
    if path.suffix == ".npz":
        np.savez(path, velocity=VELOCITY, density=DENSITY, more=np.zeros(3))
    elif path.stem == "checkpoint":
        made(velocity=VELOCITY, density=DENSITY).save(path)
    else:
        with h5py.File(path, "w") as file:
            file["velocity"], file["density"], file["more"] = VELOCITY, DENSITY, np.zeros(3)
    return path


@pytest.mark.parametrize("name", ["state.npz", "state.h5", "checkpoint.h5"])
def test_fields_of_a_file_make_the_state(name: str, tmp_path: Path) -> None:
    found = flows.read(write(tmp_path / name))
    assert set(found) == {"velocity", "density"}
    solver = made(**found)
    np.testing.assert_allclose(solver.velocity(), VELOCITY, atol=1e-15)
    np.testing.assert_allclose(solver.density(), DENSITY, rtol=1e-14)
    assert set(flows.read(tmp_path / name, "density")) == {"density"}


def test_a_file_of_one_array_needs_the_name_of_its_field(tmp_path: Path) -> None:
    np.save(tmp_path / "u.npy", VELOCITY)
    np.testing.assert_array_equal(flows.read(tmp_path / "u.npy", "velocity")["velocity"], VELOCITY)
    with pytest.raises(ValueError, match=r"field: None given for .* must be density, velocity or temperature"):
        flows.read(tmp_path / "u.npy")


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        flows.read(tmp_path / "none.npz")
    with pytest.raises(ValueError, match=r"path: .*state.csv given, must end in"):
        flows.read(tmp_path / "state.csv")
    for name in ("bad.npz", "bad.npy", "bad.h5"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(ValueError, match=rf"path: .*{name} cannot be read as"):
            flows.read(tmp_path / name, "density")
    np.savez(tmp_path / "other.npz", speed=np.ones(3))
    with pytest.raises(ValueError, match=r"other.npz holds no array named density, velocity or temperature"):
        flows.read(tmp_path / "other.npz")
    np.savez(tmp_path / "words.npz", density=np.array(["a"]))
    with pytest.raises(ValueError, match="must be real numbers"):
        flows.read(tmp_path / "words.npz")
    np.savez(tmp_path / "objects.npz", density=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="cannot be read as a file of NumPy"):
        flows.read(tmp_path / "objects.npz")
    with pytest.raises(ValueError, match="a folder"):
        flows.read(Path(tmp_path / "folder.h5").mkdir() or tmp_path / "folder.h5")


# Cases

CASE: dict[str, Any] = {
    "domain": {"shape": list(SHAPE), "stencil": "D2Q9"},
    "collision": {"model": "BGK", "viscosity": 0.1},
    "precision": "float64",
    "run": {"steps": 3, "device": "cpu", "threads": 1},
    "output": {"checkpoint": {}},
}


def run(folder: Path, initial: dict[str, Any], **more: Any) -> np.ndarray:
    """The populations in which a case with this initial state ends."""
    (folder / "case.json").write_text(json.dumps(CASE | {"initial": initial} | more))
    run_case(folder / "case.json", folder=folder / "out", progress=False)
    return lbm.Solver.load(folder / "out" / "checkpoint.h5", device="cpu").populations()


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({"taylor_green": {"speed": 0.05}}, flows.TaylorGreen(SHAPE, 0.05)),
        ({"shear_layer": {"speed": 0.05, "thickness": 2, "waves": 2}}, flows.ShearLayer(SHAPE, 0.05, 2, waves=2)),
        ({"double_shear_layer": {"speed": 0.05, "thickness": 1.5}}, flows.DoubleShearLayer(SHAPE, 0.05, 1.5)),
        ({"parabolic": {"speed": 0.05, "across": ["y"]}}, flows.Parabolic(SHAPE, 0.05)),
        ({"profile": "parabolic", "direction": "x", "max": 0.05, "across": ["y"]}, flows.Parabolic(SHAPE, 0.05)),
        ({"power_law": {"speed": 0.05, "direction": "y", "across": ["x"]}}, flows.PowerLaw(SHAPE, 0.05, "y", ["x"])),
        ({"uniform": [0.05, 0]}, (0.05, 0)),
        ({"uniform": [0.05, 0], "noise": {"amplitude": 0.01, "seed": 4}}, flows.Noise((0.05, 0), 0.01, 4)),
        (
            {"taylor_green": {"speed": 0.05}, "noise": {"amplitude": 0.001}},
            flows.Noise(flows.TaylorGreen(SHAPE, 0.05), 0.001),
        ),
    ],
)
def test_a_case_has_fields_by_name(entry: dict[str, Any], field: Any, tmp_path: Path) -> None:
    wanted = made(velocity=field)
    wanted.step(3)
    np.testing.assert_array_equal(run(tmp_path, {"velocity": entry}), wanted.populations())


def test_a_case_has_numbers_by_name(tmp_path: Path) -> None:
    density = {"taylor_green": {"speed": 0.05}}
    wanted = made(density=flows.TaylorGreenDensity(SHAPE, 0.05), velocity=flows.TaylorGreen(SHAPE, 0.05))
    wanted.step(3)
    found = run(tmp_path, {"density": density, "velocity": density})
    np.testing.assert_array_equal(found, wanted.populations())


def test_a_case_has_a_disturbed_temperature(tmp_path: Path) -> None:
    temperature = {"linear": {"low": 0.5, "high": -0.5, "perturbation": 0.01}, "noise": {"amplitude": 1e-3}}
    thermal = {"diffusivity": 0.05}
    (tmp_path / "case.json").write_text(
        json.dumps(
            CASE | {"initial": {"temperature": temperature}, "thermal": thermal, "run": CASE["run"] | {"steps": 0}}
        )
    )
    run_case(tmp_path / "case.json", folder=tmp_path / "out", progress=False)
    solver = lbm.Solver.load(tmp_path / "out" / "checkpoint.h5", device="cpu")
    field = flows.Noise(flows.Linear(SHAPE, 0.5, -0.5, perturbation=0.01), 1e-3)
    np.testing.assert_allclose(solver.temperature(), field(*centres(SHAPE)), atol=1e-15)


@pytest.mark.parametrize("name", ["state.npz", "state.h5", "checkpoint.h5"])
def test_a_case_begins_with_a_file(name: str, tmp_path: Path) -> None:
    write(tmp_path / name)
    wanted = made(velocity=VELOCITY, density=DENSITY)
    wanted.step(3)
    of_fields = {field: {"file": name} for field in ("velocity", "density")}
    for initial in ({"file": name}, of_fields):
        np.testing.assert_allclose(run(tmp_path, initial), wanted.populations(), atol=1e-15)
    still = made(velocity=(0.0, 0.01), density=DENSITY)
    still.step(3)
    np.testing.assert_allclose(run(tmp_path, {"file": name, "velocity": [0, 0.01]}), still.populations(), atol=1e-15)


@pytest.mark.parametrize(
    ("initial", "place", "message"),
    [
        (
            {"velocity": {"taylor_gren": {"speed": 0.1}}},
            "$.initial.velocity.taylor_gren",
            "did you mean 'taylor_green'",
        ),
        ({"velocity": {"taylor_green": {}}}, "$.initial.velocity.taylor_green", "lacks 'speed'"),
        (
            {"velocity": {"taylor_green": {"speed": 0.05, "wave": 1}}},
            "$.initial.velocity.taylor_green.wave",
            "did you mean",
        ),
        ({"velocity": {"taylor_green": {"speed": 0.9}}}, "$.initial.velocity", "must be at most 0.1732"),
        ({"velocity": {"linear": {"low": 0, "high": 1}}}, "$.initial.velocity.linear", "unknown key"),
        ({"velocity": {}}, "$.initial.velocity", "must have one of taylor_green"),
        ({"velocity": {"noise": {"amplitude": 0.1}}}, "$.initial.velocity", "must have one of taylor_green"),
        (
            {"velocity": {"uniform": [0, 0], "taylor_green": {"speed": 0.1}}},
            "$.initial.velocity",
            "must have one of taylor_green",
        ),
        (
            {"velocity": {"parabolic": {"speed": 0.1, "across": ["x"]}}},
            "$.initial.velocity.parabolic.across",
            "other axes",
        ),
        ({"velocity": {"file": "none.npz"}}, "$.initial.velocity", "none.npz cannot be read (No such file"),
        ({"file": "none.h5"}, "$.initial.file", "none.h5 cannot be read (No such file"),
        ({"density": {"uniform": "much"}}, "$.initial.density.uniform", "'much' given, must be a number"),
        ({"temperature": {"linear": {"low": 0, "high": 1}}}, "$.initial.temperature", "no temperature"),
    ],
)
def test_a_wrong_state_of_a_case_is_named(initial: dict[str, Any], place: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError) as caught:
        run(tmp_path, initial)
    assert [where for where, _ in caught.value.problems] == [place], caught.value.problems
    assert message in caught.value.problems[0][1]
