"""Adds members for tests alone to a copy of the sources: ``add_members.py TREE``.

They are a collision, two boundary conditions and a turbulence model.

What it does is what an author of a new one does: a header and a place in a list, a class in Python, a formula in the
reference. All tests that run over the lists then run over these members too.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
COLLISION = '''

@dataclass(frozen=True)
class WideBGK(FlowCollision):
    """For tests of the seam alone: BGK in the form of a collision that is no operator on the non-equilibrium part."""

    kind: ClassVar[str] = "wide-bgk"
'''
CONDITION = '''@dataclass(frozen=True, eq=False)
class WallAtDistance(Condition):
    """For tests of the seam alone: a wall at a distance from the centres of the cells before the face."""

    kind: ClassVar[str] = "wall-at-distance"
    number: ClassVar[str] = "distance"
    distance: Any = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", field_value("distance", self.distance, vector=False))


'''
OUTLET = '''@dataclass(frozen=True, eq=False)
class RelaxedOutlet(PressureOutlet):
    """For tests of the seam alone: an outlet that follows the fluid with a delay."""

    kind: ClassVar[str] = "relaxed-outlet"


'''
TURBULENCE = '''@dataclass(frozen=True)
class StrainModel(GradientModel):
    """For tests of the seam alone: the Smagorinsky model of the velocity gradient."""

    kind: ClassVar[str] = "strain"
    constant: float = 0.15


'''
STRAIN = '''def strain(g: Array, constant: float) -> float:
    """Smagorinsky, Mon. Weather Rev. 91 (1963) 99."""
    return float(constant**2 * np.sqrt(((g + g.T) ** 2).sum() / 2))


'''
REFERENCE = """        if kind == "wall-at-distance":
            return self._wall_at_distance(links)
"""
FORMULA = '''
    def _wall_at_distance(self, links: list[Link]) -> Array:
        """Bouzidi, Firdaouss & Lallemand, Phys. Fluids 13 (2001) 3452, eq. 5, of distances of half a link at least."""
        arriving = []
        for link in links:
            outgoing = self.f[(int(self.stencil.opposite[link.i]), *link.cell)]
            twice = 2 * self._wall_density(link)
            arriving.append((outgoing + (twice - 1) * self.f[(link.i, *link.cell)]) / twice)
        return np.array(arriving)
'''
OUTLET_FORMULA = """

def _relaxed_start(cell: BoundaryCell) -> Array:
    density, velocity = cell.moments(0)
    return np.array([density - 1, cell.inward * velocity[cell.axis]])


def _relaxed(cell: BoundaryCell) -> tuple[Array, Array]:
    stencil = cell.reference.stencil
    (density, u), stored = cell.moments(0), np.empty(2)
    inside = (2 * density + cell.moments(1)[0] + cell.moments(2)[0]) / 4
    along = [axis for axis in range(stencil.D) if axis != cell.axis]
    neighbours = sum(cell.stored_by_neighbour(axis, side)[0] for axis in along for side in range(2))
    stored[0] = 0.5 * cell.stored()[0] + 0.2 * (inside - 1) + 0.1 / len(along) * neighbours
    stored[0] += 0.1 * (cell.value - cell.reference.reference_density)
    stored[1] = (cell.stored()[1] + cell.inward * u[cell.axis]) / 2
    u = u.copy()
    u[cell.axis] = cell.inward * stored[1]
    cu = stencil.c @ u
    incoming = stencil.w * (3 * (1 + stored[0]) * cu - 0.1 * stored[0])
    for i in range(stencil.Q):
        back = int(stencil.opposite[i])
        departed = cell.departed(back)
        streamed = departed if back in cell.missing else cell.streamed(back)
        incoming[i] += departed + 0.05 * (streamed - departed)
    return stored, incoming


FORMULAS["relaxed-outlet"] = _relaxed_start, _relaxed
"""


def insert(file: Path, anchor: str, text: str, *, before: bool = False) -> None:
    """Put a text after a piece of a file that is there once, or before it."""
    source = file.read_text()
    assert source.count(anchor) == 1, (file, anchor)
    file.write_text(source.replace(anchor, text + anchor if before else anchor + text))


def main(tree: Path) -> None:
    lattice, package, reference = tree / "src/cpp/lattice", tree / "src/lbmgpu", tree / "tests/reference"
    shutil.copy(HERE / "wide_bgk.h", lattice / "collisions")
    insert(lattice / "collisions/all.h", '#include "trt.h"\n', '#include "wide_bgk.h"\n')
    insert(lattice / "collisions/all.h", "MRT, Regularized, ", "WideBGK, ")
    shutil.copy(HERE / "wall_at_distance.h", lattice / "boundary")
    insert(lattice / "boundary/all.h", '#include "velocity_inlet.h"\n', '#include "wall_at_distance.h"\n')
    insert(lattice / "boundary/all.h", "PressureOutlet, ", "WallAtDistance, ")
    shutil.copy(HERE / "relaxed_outlet.h", lattice / "boundary")
    insert(lattice / "boundary/all.h", '#include "pressure_outlet.h"\n', '#include "relaxed_outlet.h"\n')
    insert(lattice / "boundary/all.h", "WallAtDistance, ", "RelaxedOutlet, ")

    shutil.copy(HERE / "strain_model.h", lattice / "turbulence")
    insert(lattice / "turbulence/all.h", '#include "smagorinsky.h"\n', '#include "strain_model.h"\n')
    insert(lattice / "turbulence/all.h", "Smagorinsky, WALE, ", "StrainModel, ")

    collisions = package / "collisions.py"
    collisions.write_text(collisions.read_text() + COLLISION)
    insert(
        package / "conditions.py", "@dataclass(frozen=True, eq=False)\nclass Adiabatic", CONDITION + OUTLET, before=True
    )

    insert(package / "turbulence.py", "def bytes_per_update(", TURBULENCE, before=True)
    insert(package / "turbulence.py", "for model in (Smagorinsky, WALE, ", "StrainModel, ")

    insert(reference / "collisions.py", '    "bgk": _bgk,\n', '    "wide-bgk": _bgk,\n')
    insert(reference / "boundaries.py", '"no-slip", ', '"wall-at-distance", ')
    insert(reference / "boundaries.py", '"characteristic-outlet", ', '"relaxed-outlet", ', before=True)
    formulas = reference / "boundary_cells.py"
    formulas.write_text(formulas.read_text() + OUTLET_FORMULA)
    back = "        back = self.f[(self.stencil.opposite[i], *cells)]\n"
    insert(reference / "lattice.py", back, REFERENCE, before=True)
    insert(reference / "lattice.py", "\n    def _wall_velocity(", FORMULA, before=True)
    insert(reference / "turbulence.py", "FORMULAS = {", STRAIN, before=True)
    insert(reference / "turbulence.py", 'FORMULAS = {"wale": wale, ', '"strain": strain, ')
    insert(reference / "turbulence.py", 'CONSTANTS = {"wale": 0.5, ', '"strain": 0.15, ')
    insert(
        reference / "turbulence.py",
        '    "outflow": "cell",\n',
        '    "relaxed-outlet": "cell",\n    "wall-at-distance": "cell",\n',
    )
    insert(
        reference / "cases.py",
        '"pressure-outlet": (1.0, 0.01)',
        ', "wall-at-distance": (0.75, 0.2), "relaxed-outlet": (1.0, 0.01)',
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
