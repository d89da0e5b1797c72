"""Collisions that users write: the bits of the engine's own, on every device and layout; and the Bingham fluid of the
examples against its law, in NumPy and between plates."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import STENCILS
from reference.cases import in_reference_order
from reference.collisions import equilibrium, guo_source, macroscopic, stress

import lbmgpu as lbm
from lbmgpu import _core

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
COLLISIONS = ROOT / "src" / "cpp" / "lattice" / "collisions"
BINGHAM = EXAMPLES / "bingham.h"
FLUID = {"viscosity": 0.1, "yield_stress": 1e-4, "shear_rate": 2e-5}
SHAPES = {"D2Q9": (21, 9), "D3Q19": (21, 9, 5), "D3Q27": (18, 6, 5)}
FORMATS = [("float32", "float32"), ("float32", "float16"), ("float64", "float64"), ("float64", "float32")]


def own(struct: str, **given: Any) -> lbm.CustomCollision:
    """One of the engine's, as a user's."""
    text = (COLLISIONS / f"{struct.lower()}.h").read_text()
    return lbm.CustomCollision(re.sub(rf"\b{struct}\b", f"Own{struct}", text), given)


def flow(stencil: str, collision: Any, rng: np.random.Generator, **options: Any) -> lbm.Solver:
    """Shear with noise in a channel, driven by a force, beside a body."""
    shape = SHAPES[stencil]
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.02, *[0.0] * (len(shape) - 1)))
    body = np.zeros(shape, dtype=bool)
    body[5:8, 3:5] = True
    domain.add_body(body, "body")
    options = {"device": "cpu", "threads": 1, **options}
    if "layout" in options:
        del options["device"]
    solver = lbm.Solver(domain, collision, force=(1e-5, *[0.0] * (len(shape) - 1)), **options)
    velocity = rng.uniform(-0.02, 0.02, (len(shape), *shape))
    solver.initialize(density=rng.uniform(0.99, 1.01, shape), velocity=velocity, nonequilibrium=True)
    return solver


def bits(*arguments: Any, steps: int = 7, seed: int = 1, **options: Any) -> np.ndarray[Any, Any]:
    solver = flow(*arguments, np.random.default_rng(seed), **options)
    solver.step(steps)
    found = solver.populations()
    assert np.isfinite(found[:, ~solver.solid()]).all()
    return found


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize(
    ("stencil", "turn"), [("D2Q9", 0), ("D2Q9", 1), ("D3Q19", 2), ("D3Q19", 1), ("D3Q27", 0), ("D2Q9", 3)]
)
def test_one_of_the_engines_has_its_bits_written_as_ones_own(
    stencil: str, turn: int, streaming: str, device: str
) -> None:
    precision, storage = FORMATS[turn]
    options = {"precision": precision, "storage": storage, "streaming": streaming, "device": device}
    struct, given = [
        ("BGK", {"viscosity": 0.02}),
        ("TRT", {"viscosity": 0.02, "magic": 0.21}),
        ("Regularized", {"viscosity": 0.02, "smagorinsky": 0.1}),
        ("TRT", {"viscosity": 0.02, "smagorinsky": 0.15}),
    ][turn]
    engines = getattr(lbm, struct)(**given)
    np.testing.assert_array_equal(bits(stencil, own(struct, **given), **options), bits(stencil, engines, **options))


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_a_fluid_with_a_temperature_has_the_engines_bits(stencil: str, device: str) -> None:
    found = []
    for collision in (own("TRT", viscosity=0.02), lbm.TRT(0.02)):
        thermal = lbm.HybridThermal(0.02, buoyancy=(0.0, 1e-3, 0.0)[: lbm.stencil(stencil).D], energy_coupling=0.1)
        solver = flow(stencil, collision, np.random.default_rng(2), thermal=thermal, device=device)
        shape = SHAPES[stencil]
        solver.initialize(temperature=np.random.default_rng(3).uniform(-0.5, 0.5, shape))
        solver.step(6)
        found.append((solver.populations(), solver.temperature()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("precision", "storage"), FORMATS[:3])
def test_all_instruction_sets_give_the_same_bits(precision: str, storage: str) -> None:
    collision = lbm.CustomCollision(BINGHAM, FLUID)
    given, shape = collision.parameters(_core.stencil("D2Q9")), (9, 21)  # with x last
    velocity = np.random.default_rng(1).uniform(-0.02, 0.02, (2, *shape))
    found = []
    for isa in _core.cpu_isas():
        kinds = {"stencil": "D2Q9", "precision": precision, "storage": storage, "isa": isa}
        numbers = _core.custom_numbers(collision.engine_text(), given, **kinds)
        custom = collision.engine_text() | {"numbers": numbers}
        engine = _core.Engine(shape=shape[::-1], collision="", custom=custom, threads=1, **kinds)
        engine.initialize(None, velocity, False, None)
        engine.step(6)
        populations = np.empty((9, *shape), dtype=precision)
        engine.populations(populations)
        found.append((numbers, populations))
    for numbers, populations in found[1:]:
        assert numbers == found[0][0]
        np.testing.assert_array_equal(populations, found[0][1])


@pytest.mark.parametrize("stencil", SHAPES)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_bingham_fluid_has_the_same_bits_in_blocks_and_by_both_streamings(
    stencil: str, precision: str, device: str
) -> None:
    collision, shape = lbm.CustomCollision(BINGHAM, FLUID), SHAPES[stencil]
    one = bits(stencil, collision, precision=precision, device=device)
    layout = lbm.Layout.split(shape, (2, 2, 1)[: len(shape)], device="cuda:0" if device == "cuda" else device)
    other = bits(stencil, collision, precision=precision, layout=layout, streaming="two-lattice")
    np.testing.assert_array_equal(one, other)


@pytest.mark.gpu
@pytest.mark.parametrize("stencil", SHAPES)
@pytest.mark.parametrize(("precision", "storage"), FORMATS)
def test_the_bingham_fluid_has_the_bits_of_a_cpu_on_a_gpu(stencil: str, precision: str, storage: str, gpu: str) -> None:
    collision = lbm.CustomCollision(BINGHAM, FLUID)
    for streaming in ("in-place", "two-lattice"):
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        on_gpu = bits(stencil, collision, device=gpu, **options)
        np.testing.assert_array_equal(on_gpu, bits(stencil, collision, **options))


@pytest.mark.gpu
def test_a_gpu_makes_the_parameters_that_a_cpu_makes(gpu: str) -> None:
    for collision in (lbm.CustomCollision(BINGHAM, FLUID | {"smagorinsky": 0.12, "magic": 0.3}), own("TRT", **FLUID)):
        given = {k: v for k, v in collision.given.items() if collision.name == "Bingham" or k == "viscosity"}
        kinds = {"stencil": "D3Q19", "precision": "float32", "storage": "float32"}
        made = [_core.custom_numbers(collision.engine_text(), given, device=d, **kinds) for d in ("cpu", gpu)]
        assert made[0] == made[1]


@pytest.mark.gpu
def test_a_gpu_needs_no_compiler_of_the_host(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    solver = lbm.Solver(lbm.Domain((8, 6), "D2Q9"), own("BGK", viscosity=0.1), device=gpu)
    solver.step(2)


def bingham_step(stencil: Any, f: Any, force: Any) -> Any:
    """Stream the populations after collision in a periodic box, and collide them as bingham.h says that it does."""
    f = np.stack([np.roll(f[i], c, axis=range(len(c))) for i, c in enumerate(stencil.c)])
    rho, u = macroscopic(stencil, f, force)
    feq, source = equilibrium(stencil, rho, u), guo_source(stencil, u, force)
    n = f - feq + source / 2
    pi = stress(stencil, n)
    big = 3 * np.sqrt((pi**2).sum(axis=(0, 1)) / 2) / rho
    rate, stress_3, tau_0 = FLUID["shear_rate"], 3 * FLUID["yield_stress"], 3 * FLUID["viscosity"] + 0.5
    tau = np.empty_like(rho)
    for at in np.ndindex(rho.shape):  # (tau - tau_0) (G / tau + rate) = 3 yield
        roots = np.roots([rate, big[at] - rate * tau_0 - stress_3, -tau_0 * big[at]])
        tau[at] = roots.real.max()
    np.testing.assert_allclose((tau - tau_0) * (big / tau + rate), stress_3, rtol=1e-6)
    even = (n + n[stencil.opposite]) / 2
    return f + source - even / tau - (n - even) / (3 / 16 / (tau - 0.5) + 0.5)


@pytest.mark.parametrize("name", SHAPES)
def test_the_bingham_fluid_is_that_of_its_law(name: str, device: str, rng: np.random.Generator) -> None:
    shape, stencil = SHAPES[name], STENCILS[name]
    force = rng.uniform(-1e-5, 1e-5, len(shape))
    collision = lbm.CustomCollision(BINGHAM, FLUID)
    solver = lbm.Solver(lbm.Domain(shape, name), collision, force=force, precision="float64", device=device)
    velocity = 1e-3 * rng.uniform(-1, 1, (len(shape), *shape))  # from nearly solid to yielded
    solver.initialize(density=rng.uniform(0.999, 1.001, shape), velocity=velocity)
    for _ in range(3):
        before = in_reference_order(name, solver.populations())
        solver.step()
        after = in_reference_order(name, solver.populations())
        spread = force.reshape(-1, *[1] * len(shape)) * np.ones((1, *shape))
        np.testing.assert_allclose(after, bingham_step(stencil, before, spread), rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [(), ("--yield-stress", "2e-4", "--cells", "24"), ("--yield-stress", "0")])
def test_a_bingham_channel_has_the_models_profile(options: tuple[str, ...], tmp_path: Path) -> None:
    picture = tmp_path / "profile.png"
    command = [sys.executable, str(EXAMPLES / "bingham_channel.py"), "--device", "cpu", "--output", str(picture)]
    out = subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout
    error = re.search(r"largest difference from the model's profile: (\d+\.\d+) %", out)
    assert error is not None
    assert float(error[1]) < 1
    assert picture.read_bytes().startswith(b"\x89PNG")
