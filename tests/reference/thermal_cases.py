"""Set-ups with a temperature, from which the solver and the reference are built alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import lbmgpu as lbm
from lbmgpu import _core

from .cases import NAMES, Array, Case, random_bodies, random_faces, random_fields, reverse, to_lbm
from .collisions import Collision
from .thermal import Heat, ThermalReference

OPERATORS = ["isotropic", "obrecht2013"]


@dataclass
class ThermalCase(Case):
    """A case with what its temperature needs; `temperature` is that of the start."""

    heat: Heat = field(default_factory=lambda: Heat(0.05))
    temperature: Array | None = None

    def walls(self) -> list[Any]:
        """None or a temperature for every face; periodic ones, which have none, come out as None."""
        given = self.heat.faces or [None] * 2 * len(self.shape)
        kinds = [kind for kind, _ in self.all_faces()]
        fixed = [None if isinstance(v, str) else v for v in given]
        return [None if kind == "periodic" else v for kind, v in zip(kinds, fixed, strict=True)]

    def domain(self) -> lbm.Domain:
        bare = Case(self.stencil, self.shape, self.collision, faces=self.faces).domain()
        for name, wall in zip(NAMES, self.walls(), strict=False):
            if wall is not None:
                bare.thermal[name] = lbm.Isothermal(wall)
        walls = self.heat.bodies or [None] * len(self.bodies)
        for number, ((mask, velocity), wall) in enumerate(zip(self.bodies, walls, strict=True)):
            scheme = self.cuts[number].scheme if number in self.cuts else None
            condition = lbm.NoSlip(scheme=scheme) if velocity is None else lbm.MovingWall(velocity, scheme=scheme)
            thermal = None if wall is None else lbm.Isothermal(wall)
            name, links = f"body {number}", self.links(number)
            bare.add_body(mask, name=name, condition=condition, thermal=thermal, links=links)
        return bare

    def thermal(self) -> lbm.HybridThermal:
        heat = self.heat
        return lbm.HybridThermal(
            heat.diffusivity,
            buoyancy=heat.buoyancy or None,
            reference=heat.reference,
            operators=heat.operators,
            energy_coupling=heat.coupling,
            source=heat.source,
        )

    def solver(self, **options: Any) -> lbm.Solver:
        chosen = {"precision": "float64", "device": "cpu", "force": self.force, **self.options, **options}
        solver = lbm.Solver(
            self.domain(), to_lbm(self.collision), thermal=self.thermal(), turbulence=self.model(), **chosen
        )
        solver.initialize(density=self.density, velocity=self.velocity, temperature=self.temperature)
        return solver

    def engine(self, **options: Any) -> _core.Engine:
        """The bare engine, initialised; its temperatures are deviations."""
        heat, walls = self.heat, self.walls()
        kinds = [
            "periodic" if kind == "periodic" else "adiabatic" if wall is None else "isothermal"
            for (kind, _), wall in zip(self.all_faces(), walls, strict=True)
        ]
        thermal = {
            "diffusivity": heat.diffusivity,
            "operators": heat.operators,
            "energy_coupling": heat.coupling,
            "buoyancy": list(heat.buoyancy or [0.0] * len(self.shape)),
            "faces": kinds,
        }
        flow: dict[str, Any] = {"faces": self.faces, "force": self.force, "turbulence": self.turbulence}
        without = Case(self.stencil, self.shape, self.collision, **flow)
        engine = without.engine(thermal=thermal, **options)
        temperatures = self.heat.bodies or [None] * len(self.bodies)
        for (mask, velocity), wall in zip(self.bodies, temperatures, strict=True):
            engine.add_body(
                reverse(mask),
                None if velocity is None else reverse(np.asarray(velocity, float), 1),
                None if wall is None else reverse(np.asarray(wall, float) - heat.reference),
            )
        for number, wall in enumerate(walls):
            if wall is not None:
                engine.set_face_temperature(number, reverse(np.asarray(wall, float) - heat.reference))
        engine.set_heat_source(reverse(np.asarray(heat.source, float)))
        fields = (None if a is None else reverse(a, a.ndim - len(self.shape)) for a in (self.density, self.velocity))
        above = None if self.temperature is None else reverse(self.temperature - heat.reference)
        engine.initialize(*fields, False, above)
        return engine

    def reference(self) -> ThermalReference:
        plain = super().reference()
        bodies = self.heat.bodies or [None] * len(self.bodies)
        walls = ["adiabatic" if wall is None else wall for wall in self.walls()]
        heat = Heat(**{**self.heat.__dict__, "faces": walls, "bodies": bodies})
        dimensions = len(self.shape)
        reference = ThermalReference(
            self.stencil,
            self.shape,
            self.collision,
            heat,
            faces=[kind for kind, _ in self.all_faces()],
            bodies=[(mask, np.zeros(dimensions) if velocity is None else velocity) for mask, velocity in self.bodies],
            face_velocity=plain.face_velocity,
            face_density=plain.face_density,
            force=self.force,
            reference_density=plain.reference_density,
            turbulence=self.turbulence,
            cuts=self.cuts,
        )
        if self.temperature is not None:
            reference.T = np.where(reference.solid, reference.T, self.temperature)
        return reference


def random_walls(rng: np.random.Generator, shape: Sequence[int]) -> list[Any]:
    """Adiabatic, of one temperature, or of one for every cell of the face."""
    walls: list[Any] = []
    for number in range(2 * len(shape)):
        tangential = tuple(np.delete(shape, number // 2))
        choices = [None, float(rng.uniform(-1, 1)), rng.uniform(-1, 1, tangential)]
        walls.append(choices[int(rng.integers(3))])
    return walls


def random_thermal_case(
    rng: np.random.Generator,
    stencil: str,
    kind: str,
    shape: tuple[int, ...],
    *,
    operators: str = "isotropic",
    faces: Sequence[str] | None = None,
    bodies: bool = True,
    smagorinsky: float = 0.0,
) -> ThermalCase:
    """Every cell, face and body different, with a source, a buoyancy and a coupling; a flow that stays slow."""
    density, velocity = random_fields(rng, shape, speed=0.01)
    solids = [body for body in random_bodies(rng, shape) if body[0].any()] if bodies else []
    if solids and np.any([mask for mask, _ in solids], axis=0).all():
        solids = []  # a domain needs a fluid cell
    temperatures = [float(rng.uniform(-1, 1)), rng.uniform(-1, 1, shape)]
    rng.shuffle(temperatures)
    heat = Heat(
        diffusivity=0.06,
        operators=operators,
        coupling=0.02,
        buoyancy=tuple(rng.uniform(-1e-3, 1e-3, len(shape)).tolist()),
        reference=0.25,
        faces=random_walls(rng, shape),
        bodies=[None if rng.random() < 1 / 3 else t for t, _ in zip(temperatures, solids, strict=False)],
        source=rng.uniform(-1e-3, 1e-3, shape) if rng.random() < 0.5 else 1e-4,
    )
    return ThermalCase(
        stencil,
        shape,
        Collision(kind, 0.1, smagorinsky=smagorinsky),
        faces=random_faces(rng, shape, faces),
        bodies=solids,
        force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)) if rng.random() < 0.5 else None,
        density=density,
        velocity=velocity,
        heat=heat,
        temperature=rng.uniform(-1, 1, shape),
    )
