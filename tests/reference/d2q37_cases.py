"""Set-ups of the thermal model on D2Q37, from which solver, bare engine and reference are built alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm
from lbmgpu import _core

from .cases import Array, reverse
from .d2q37 import CS2, D2Q37, D2Q37Reference

FACES = ("-x", "+x", "-y", "+y")
PERIODIC = (None, None, None, None)


@dataclass
class GasCase:
    """Arrays are indexed [(component,) x, y]; `walls` are None (periodic), ``"adiabatic"`` or a temperature."""

    shape: tuple[int, int]
    viscosity: float = 0.1
    prandtl: float = 1.0
    gravity: Sequence[float] = (0.0, 0.0)
    walls: Sequence[Any] = PERIODIC
    density: Any = 1.0
    velocity: Any = (0.0, 0.0)
    temperature: Any = CS2
    fourth_order_diffusion: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def domain(self) -> lbm.Domain:
        domain = lbm.Domain(self.shape, "D2Q37")
        for face, wall in zip(FACES, self.walls, strict=True):
            if wall is not None:
                domain.faces[face] = lbm.NoSlip()
                if not isinstance(wall, str):
                    domain.thermal[face] = lbm.Isothermal(wall)
        return domain

    def collision(self) -> lbm.ThermalBGK:
        return lbm.ThermalBGK(self.viscosity, self.prandtl, tuple(self.gravity), self.fourth_order_diffusion)

    def solver(self, **options: Any) -> lbm.Solver:
        """The solver, initialised; float64 unless `options` say otherwise."""
        chosen = {"precision": "float64", "device": "cpu", **self.options, **options}
        solver = lbm.Solver(self.domain(), self.collision(), **chosen)
        solver.initialize(density=self.density, velocity=self.velocity, temperature=self.temperature)
        return solver

    def engine(self, **options: Any) -> _core.Engine:
        """The bare engine, initialised."""
        kinds = ["periodic" if w is None else "adiabatic" if isinstance(w, str) else "isothermal" for w in self.walls]
        precision = options.pop("precision", "float64")
        engine = _core.Engine(
            stencil="D2Q37",
            shape=self.shape,
            collision="thermal-bgk",
            viscosity=self.viscosity,
            prandtl=self.prandtl,
            gravity=list(self.gravity),
            fourth_order_diffusion=float(self.fourth_order_diffusion),
            precision=precision,
            storage=precision,
            streaming="two-lattice",
            faces=["periodic" if w is None else "no-slip" for w in self.walls],
            thermal_faces=kinds,
            **options,
        )
        for number, (kind, wall) in enumerate(zip(kinds, self.walls, strict=True)):
            if kind == "isothermal":
                engine.set_face_temperature(number, np.asarray(wall, float))
        rho, T = (reverse(np.broadcast_to(np.asarray(a, float), self.shape)) for a in (self.density, self.temperature))
        u = np.asarray(self.velocity, float)
        u = reverse(np.broadcast_to(u.reshape(2, 1, 1) if u.ndim == 1 else u, (2, *self.shape)), 1)
        engine.initialize(rho, u, False, T)
        return engine

    def reference(self) -> D2Q37Reference:
        reference = D2Q37Reference(
            self.shape,
            self.viscosity,
            prandtl=self.prandtl,
            gravity=self.gravity,
            walls=self.walls,
            fourth_order_diffusion=self.fourth_order_diffusion,
        )
        reference.initialize(self.density, self.velocity, self.temperature)
        return reference


def in_gas_order(populations: NDArray[Any]) -> Array:
    """Populations of the solver in the reference's order of velocities."""
    c = np.asarray(_core.stencil("D2Q37").c)
    order = [int(np.nonzero((c == v).all(axis=1))[0][0]) for v in D2Q37.c]
    return np.asarray(populations, dtype=np.float64)[order]


def smooth(rng: np.random.Generator, shape: Sequence[int], waves: int = 3) -> Array:
    """A random periodic field between -1 and 1 of the few longest waves."""
    x, y = np.meshgrid(*(2 * np.pi * np.arange(n) / n for n in shape), indexing="ij")
    result = np.zeros(tuple(shape))
    for _ in range(2 * waves):
        kx, ky = rng.integers(-waves, waves + 1, 2) % np.maximum(1, np.array(shape) // 2)
        result += rng.uniform(-1, 1) * np.cos(kx * x + ky * y + rng.uniform(0, 2 * np.pi))
    return result / max(1e-3, np.abs(result).max())


WALLS = {
    "periodic": (),
    "isothermal": ("isothermal", "isothermal"),
    "adiabatic": ("adiabatic", "adiabatic"),
    "mixed": ("adiabatic", "varied"),
    "varied": ("varied", "varied"),
    "sealed": ("adiabatic",) * 4,
    "oven": ("varied",) * 4,
    "window": ("varied", "isothermal", "adiabatic", "adiabatic"),
    "stove": ("varied", "adiabatic", "isothermal", "adiabatic"),
}
"""What the two walls, or the four of a box, are by name: of one temperature, adiabatic, or of one for every cell."""
BOXES = [name for name, kinds in WALLS.items() if len(kinds) == 4]


def random_gas_case(
    rng: np.random.Generator,
    shape: tuple[int, int],
    walls: str = "periodic",
    axis: int = 1,
    *,
    prandtl: float = 1.0,
    gravity: bool = True,
    rough: bool = False,
    viscosity: float = 0.1,
    fourth_order_diffusion: bool = False,
) -> GasCase:
    """Every cell and wall different, smooth but with `rough`, and an oblique gravity; walls across `axis`, or all."""

    def noise() -> Array:
        return rng.uniform(-1, 1, shape) if rough else smooth(rng, shape)

    chosen: list[Any] = list(PERIODIC)
    for number, kind in enumerate(WALLS[walls]):
        at = number if walls in BOXES else 2 * axis + number
        if kind == "adiabatic":
            chosen[at] = kind
        elif kind == "isothermal":
            chosen[at] = CS2 * float(rng.uniform(0.95, 1.05))
        else:
            chosen[at] = CS2 * (1 + 0.04 * smooth(rng, (shape[1 - at // 2], 1))[:, 0])
    return GasCase(
        shape,
        viscosity=viscosity,
        prandtl=prandtl,
        gravity=rng.uniform(-1e-3, 1e-3, 2).tolist() if gravity else (0.0, 0.0),
        walls=chosen,
        density=1 + 0.05 * noise(),
        velocity=np.array([0.05 * noise(), 0.05 * noise()]),
        temperature=CS2 * (1 + 0.05 * noise()),
        fourth_order_diffusion=fourth_order_diffusion,
    )
