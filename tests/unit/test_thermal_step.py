"""A step of the temperature, cell by cell, as the formulas of docs/thermal.md say, on walls and bodies of all kinds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference.registry import THERMAL_STENCILS

import lbmgpu as lbm

# Weights of the Laplacian and the gradient, of axes and of diagonals.
WEIGHTS = {
    ("isotropic", 3): ((1 / 3, 1 / 6), (1 / 6, 1 / 12)),
    ("isotropic", 2): ((2 / 3, 1 / 6), (1 / 3, 1 / 12)),
    ("obrecht2013", 3): ((2.0, -1 / 4), (1.0, -1 / 8)),
    ("obrecht2013", 2): ((3 / 2, -1 / 4), (3 / 4, -1 / 8)),
}
Floats = NDArray[np.float64]
Cell = tuple[int, ...]


def reflected(value: float, wall: float | None) -> float:
    """What lies beyond a wall half a cell away: at a temperature, or adiabatic if None."""
    return value if wall is None else 2 * wall - value


@dataclass
class Walls:
    """Of a domain: temperatures of faces (None: adiabatic), periodic axes, and of each solid cell's body."""

    shape: Cell
    faces: list[float | None]
    periodic: list[bool]
    bodies: dict[Cell, float | None]

    def wrapped(self, cell: Cell) -> Cell:
        return tuple(x % n if p else x for x, n, p in zip(cell, self.shape, self.periodic, strict=True))

    def beyond(self, field: Floats, cell: Cell, seen_from: Cell) -> float:
        """The temperature at a place that may lie outside, axis by axis, or in a body, as a cell sees it."""
        cell = self.wrapped(cell)
        for axis in reversed(range(len(cell))):
            if not 0 <= cell[axis] < self.shape[axis]:
                high = cell[axis] >= 0
                inside = (*cell[:axis], self.shape[axis] - 1 if high else 0, *cell[axis + 1 :])
                return reflected(self.beyond(field, inside, seen_from), self.faces[2 * axis + high])
        if cell in self.bodies:
            return reflected(field[seen_from], self.bodies[cell])
        return float(field[cell])

    def neighbour(self, field: Floats, cell: Cell, c: Cell) -> float:
        """The temperature that a cell takes its neighbour in the direction `c` to have."""
        target = self.wrapped(tuple(x + d for x, d in zip(cell, c, strict=True)))
        if target not in self.bodies:
            return self.beyond(field, target, cell)
        own = field[cell]
        if sum(map(abs, c)) == 2:
            axes = [axis for axis, d in enumerate(c) if d]
            sides = [tuple(x + (c[k] if k == axis else 0) for k, x in enumerate(cell)) for axis in axes]
            fluid = [self.beyond(field, side, cell) for side in sides if self.wrapped(side) not in self.bodies]
            own = fluid[0] if len(fluid) == 1 else own
        return reflected(float(own), self.bodies[target])


def stepped(field: Floats, velocity: Floats, walls: Walls, kappa: float, operators: str, source: Floats) -> Floats:
    """The temperature after a step, in fluid cells."""
    laplacian, gradient = WEIGHTS[operators, field.ndim]
    result = field + source
    for cell in np.ndindex(*field.shape):
        if cell in walls.bodies:
            continue
        for c in itertools.product((-1, 0, 1), repeat=field.ndim):
            kind = sum(map(abs, c)) - 1
            if kind in (0, 1):
                there = walls.neighbour(field, cell, c)
                along = float(np.dot(c, velocity[(slice(None), *cell)]))
                result[cell] += kappa * laplacian[kind] * (there - field[cell]) - gradient[kind] * along * there
    return result


def flow(stencil: str, kind: str) -> tuple[lbm.Domain, Walls]:
    """A box with two bodies, the second of which touches faces and the first one."""
    shape = (9, 8) if stencil == "D2Q9" else (7, 6, 6)
    domain = lbm.Domain(shape, stencil)
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    if kind == "periodic":
        domain.faces["-y"] = domain.faces["+y"] = lbm.Periodic()
    if kind == "open":
        domain.faces["-x"] = lbm.VelocityInlet((0.05, *[0.0] * (len(shape) - 1)))
        domain.faces["+x"] = lbm.Outflow()
    warm: dict[str, float] = {"-x": 0.7, "+x": -0.2}
    if len(shape) == 3:
        warm["+z"] = 0.4
    for face, temperature in warm.items():
        domain.thermal[face] = lbm.Isothermal(temperature)
    hot, plain = np.zeros(shape, bool), np.zeros(shape, bool)
    hot[(slice(2, 4),) * len(shape)] = hot[(4, *[3] * (len(shape) - 1))] = True
    plain[(slice(4, 6), *[slice(4, None)] * (len(shape) - 1))] = True
    plain[(6, 4, *[0] * (len(shape) - 2))] = True
    bodies: dict[Cell, float | None] = {}
    for mask, temperature in ((hot, 1.3), (plain, None)):
        domain.add_body(mask, thermal=None if temperature is None else lbm.Isothermal(temperature))
        bodies |= {tuple(int(x) for x in cell): temperature for cell in np.argwhere(mask)}
    periodic = [isinstance(domain.faces["-" + axis], lbm.Periodic) for axis in "xyz"[: len(shape)]]
    return domain, Walls(shape, [warm.get(face) for face in domain.faces], periodic, bodies)


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
@pytest.mark.parametrize("kind", ["closed", "periodic", "open"])
@pytest.mark.parametrize("operators", ["isotropic", "obrecht2013"])
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_a_step(stencil: str, kind: str, operators: str, streaming: str) -> None:
    domain, walls = flow(stencil, kind)
    shape, random = domain.shape, np.random.default_rng(1)
    source = 1e-3 * random.random(shape)
    model = lbm.HybridThermal(0.06, operators=operators, source=source)
    options: dict[str, Any] = {"precision": "float64", "streaming": streaming, "device": "cpu", "threads": 1}
    solver = lbm.Solver(domain, lbm.TRT(0.1), thermal=model, **options)
    velocity = [0.03 * np.sin(np.arange(np.prod(shape))).reshape(shape)] * len(shape)
    solver.initialize(velocity=np.stack(velocity), temperature=random.random(shape))
    fluid = ~solver.solid
    for _ in range(3):
        before = solver.temperature()
        solver.step(1)
        # Without a force the collision keeps the velocity, which can be read after it.
        wanted = stepped(before, solver.velocity(), walls, model.diffusivity, operators, source)
        np.testing.assert_allclose(solver.temperature()[fluid], wanted[fluid], rtol=0, atol=1e-14)


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
@pytest.mark.parametrize("collision", [lbm.BGK(0.1), lbm.TRT(0.1), lbm.MRT(0.1), lbm.Regularized(0.1)])
def test_the_force_of_buoyancy(stencil: str, collision: Any) -> None:
    """A step gives the fluid the momentum b (T - reference) of the temperature before it, beside the body force."""
    shape = (9, 8) if stencil == "D2Q9" else (7, 6, 6)
    buoyancy, force = np.array((1e-3, -2e-3, 3e-3)[: len(shape)]), np.array((1e-4, 2e-4, 3e-4)[: len(shape)])
    model = lbm.HybridThermal(0.1, buoyancy=buoyancy, reference=0.3)
    options: dict[str, Any] = {"precision": "float64", "device": "cpu", "threads": 1}
    solver = lbm.Solver(lbm.Domain(shape, stencil), collision, force=force, thermal=model, **options)
    solver.initialize(temperature=np.random.default_rng(2).random(shape))

    def pushed() -> Floats:
        """The sum of the force with the temperature of now."""
        excess: Floats = solver.temperature() - 0.3
        return buoyancy * excess.sum() + force * excess.size

    for _ in range(4):
        # What is read has half of the force of now taken off.
        before, given = solver.momentum() + pushed() / 2, pushed()
        solver.step(1)
        np.testing.assert_allclose(solver.momentum() + pushed() / 2 - before, given, rtol=1e-10)


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_the_energy_coupling(stencil: str) -> None:
    """The energy moment relaxes towards what has q1 (T - reference) added, and no other moment changes."""
    shape = (9, 8) if stencil == "D2Q9" else (7, 6, 6)
    found = []
    for coupling in (0.0, 0.5):
        model = lbm.HybridThermal(0.1, reference=0.3, energy_coupling=coupling)
        domain = lbm.Domain(shape, stencil)
        options: dict[str, Any] = {"precision": "float64", "device": "cpu", "threads": 1}
        solver = lbm.Solver(domain, lbm.MRT(0.1), thermal=model, **options)
        solver.initialize()
        solver._simulation.engine.set_temperature(np.full(shape[::-1], 0.8 - 0.3))
        solver.step(1)
        found.append(solver.populations())
    data = lbm.stencil(stencil)
    matrix, names = data.moment_matrix, data.moment_names
    change = np.tensordot(matrix, found[1] - found[0], axes=1)
    energy = names.index("e")
    group = data.moment_groups[energy]
    rate = data.default_rates[group]
    np.testing.assert_allclose(change[energy], rate * 0.5 * (0.8 - 0.3), rtol=1e-12)
    np.testing.assert_allclose(np.delete(change, energy, axis=0), 0, atol=1e-13)
