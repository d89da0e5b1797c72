"""Random flows cut into random blocks, of all models, which must hold the bits of the flow in one block."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi.programs.random_layouts import random_layout
from reference import STENCILS, Collision
from reference.cases import CLASSES, Case, random_bodies, random_faces, random_fields
from reference.d2q37_cases import WALLS, random_gas_case
from reference.registry import KINDS, MODELS
from reference.thermal_cases import random_thermal_case

from lbmgpu import _core
from lbmgpu.layout import Layout

NAME = "layouts"
QUICK, LONG = 40, 5000
NUMBERS = [("float32", "float32"), ("float64", "float64"), ("float64", "float32"), ("float32", "float16")]


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """See the package; `folder` is not needed. On a GPU a block is on any of the GPUs, or on the CPU."""
    devices = ["cpu"] if device == "cpu" else ["cpu", *(f"cuda:{k}" for k in range(_core.cuda_device_count()))]
    layouts_of_a_flow = 1 if device == "cpu" else 25  # for each flow a GPU's kernels are compiled
    ended: Counter[str] = Counter()
    while ended.total() < count:
        if ended.total() % layouts_of_a_flow == 0:
            flow = int(rng.integers(2**32))
        ended[_same_bits(flow, int(rng.integers(2**32)), devices)] += 1
    return ended


def _same_bits(flow: int, seed: int, devices: list[str]) -> str:
    """Step the random flow of a number in one block and, as `seed` has it, in several; the model of the flow."""
    model, case, options = random_flow(np.random.default_rng(flow))
    rng = np.random.default_rng(seed)
    names = rng.choice(devices, 4).tolist()
    ends = ends_of_blocks(case)
    layout = with_cpu_share(random_layout(rng, case.shape, 1, names, ends), float(rng.choice([0.0, 0.2, 0.5])), ends)
    options["threads"] = int(rng.integers(1, 4))
    channel, schedule = str(rng.choice(["auto", "staged", "direct"])), str(rng.choice(["auto", "blocking", "overlap"]))
    if any(name != "cpu" for name in names) and channel == "direct":
        channel = "auto"  # the host does not reach a GPU's memory
    steps = int(rng.integers(1, 13))
    one = case.solver(device=str(rng.choice(devices)), **options)
    many = case.solver(layout=layout, device="auto", channel=channel, schedule=schedule, **options)
    for solver in (one, many):
        solver._simulation.advance(steps)  # without a look at whether the flow is stable: not all of them are
    fields = ["populations", "density", "velocity"] + (["temperature"] if model != "isothermal" else [])
    for field in fields:
        ours, theirs = getattr(many, field)(), getattr(one, field)()
        assert ours.tobytes() == theirs.tobytes() or _equal(ours, theirs), (
            f"{field} of {case.shape} after {steps} steps differs in {layout}, {options}, {channel!r}, {schedule!r}; "
            f"repeat it with _same_bits({flow}, {seed}, {devices})"
        )
    return model


def ends_of_blocks(case: Any) -> list[tuple[int, int]]:
    """For each axis the fewest cells along it that a block may have at its lower and its upper face."""
    return case.least_blocks() if isinstance(case, Case) else [(1, 1)] * len(case.shape)


def with_cpu_share(layout: Layout, share: float, ends: list[tuple[int, int]]) -> Layout:
    """The layout with a share of the CPU; without a GPU all blocks are taken for those of one.

    It stays as it is where the share would cut a block thinner than `ends` (`ends_of_blocks`) allows.
    """
    on_gpus = any(block.device != "cpu" for block in layout)
    shared = layout if on_gpus else Layout(replace(block, device="cuda:0") for block in layout)
    shared = shared.with_cpu_share(share)
    shape = [max(block.offset[axis] + block.size[axis] for block in layout) for axis in range(len(ends))]
    for block in shared:
        for axis, (low, high) in enumerate(ends):
            first, size = block.offset[axis], block.size[axis]
            if (first == 0 and size < min(low, shape[axis])) or (
                first + size == shape[axis] and size < min(high, shape[axis])
            ):
                return layout
    return shared if on_gpus else Layout(replace(block, device="cpu") for block in shared)


def _equal(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether all numbers are equal, NaN to NaN: what a flow that diverges holds."""
    return bool(np.array_equal(ours, theirs, equal_nan=True))


def random_flow(rng: np.random.Generator) -> tuple[str, Any, dict[str, Any]]:
    """The model, a random case of it, and options of its solver."""
    model = str(rng.choice(["isothermal", *MODELS]))
    precision, storage = NUMBERS[rng.integers(len(NUMBERS))]
    if model == "multispeed thermal":
        shape = (int(rng.integers(3, 20)), int(rng.integers(3, 14)))
        prandtl = float(rng.choice([1.0, 0.71]))
        walls, axis = str(rng.choice(list(WALLS))), int(rng.integers(2))
        return model, random_gas_case(rng, shape, walls, axis, prandtl=prandtl, rough=True), {"precision": precision}
    streaming = str(rng.choice(["in-place", "two-lattice"]))
    stencil = str(rng.choice(MODELS[model]["stencils"]))
    kind = str(rng.choice(KINDS[stencil]))
    shape = tuple(int(rng.integers(2, most)) for most in (40, 8, 6)[: STENCILS[stencil].D])
    faces = _random_kinds(rng, len(shape))
    if model == "hybrid thermal":
        storage = "float32" if storage == "float16" else storage
        return (
            model,
            random_thermal_case(rng, stencil, kind, shape, faces=faces),
            _options(precision, storage, streaming),
        )
    density, velocity = random_fields(rng, shape, speed=0.01)
    bodies = [body for body in random_bodies(rng, shape) if body[0].any()]
    if bodies and np.any([mask for mask, _ in bodies], axis=0).all():
        bodies = []  # a domain needs a fluid cell
    case = Case(
        stencil,
        shape,
        Collision(kind, 0.1, smagorinsky=float(rng.choice([0.0, 0.1]))),
        faces=random_faces(rng, shape, faces),
        bodies=bodies,
        force=rng.uniform(-1e-5, 1e-5, (len(shape), *shape)),
        density=density,
        velocity=velocity,
    )
    return model, case, _options(precision, storage, streaming)


def _options(precision: str, storage: str, streaming: str) -> dict[str, Any]:
    return {"precision": precision, "storage": storage, "streaming": streaming}


def _random_kinds(rng: np.random.Generator, dimensions: int) -> list[str]:
    """A kind for every face, periodic ones in pairs."""
    walls = [kind for kind in CLASSES if kind != "periodic"]
    kinds: list[str] = []
    for _ in range(dimensions):
        kinds += ["periodic"] * 2 if rng.random() < 0.4 else [str(kind) for kind in rng.choice(walls, 2)]
    return kinds
