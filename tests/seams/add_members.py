"""Adds a collision and a boundary condition that are for tests alone to a copy of the sources: ``add_members.py TREE``.

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
REFERENCE = """        if kind == "wall-at-distance":
            return self._wall_at_distance(links)
"""
FORMULA = '''
    def _wall_at_distance(self, links: list[Link]) -> Array:
        """Bouzidi, Firdaouss & Lallemand, Phys. Fluids 13 (2001) 3452, eq. 5; half-way where two walls meet."""
        special = {(link.cell, link.i): link for link in self.links}
        arriving = []
        for link in links:
            back = int(self.stencil.opposite[link.i])
            outgoing, departed = self.f[(back, *link.cell)], self.f[(link.i, *link.cell)]
            other = special.get((link.cell, back))
            if other is not None and other.kind != "fluid":
                arriving.append(outgoing)
                continue
            behind = tuple(np.subtract(link.cell, self.stencil.c[back])) if other is None else other.source
            streamed = self.f[(back if other is None else other.j, *behind)]
            twice = 2 * self._wall_density(link)
            near = twice * outgoing + (1 - twice) * streamed
            arriving.append(near if twice < 1 else (outgoing + (twice - 1) * departed) / twice)
        return np.array(arriving)
'''


def insert(file: Path, anchor: str, text: str, *, before: bool = False) -> None:
    """Put a text after a piece of a file that is there once, or before it."""
    source = file.read_text()
    assert source.count(anchor) == 1, (file, anchor)
    file.write_text(source.replace(anchor, text + anchor if before else anchor + text))


def main(tree: Path) -> None:
    lattice, package, reference = tree / "src/cpp/lattice", tree / "src/lbmgpu", tree / "tests/reference"
    shutil.copy(HERE / "wide_bgk.h", lattice / "collisions")
    insert(lattice / "collisions/all.h", '#include "trt.h"\n', '#include "wide_bgk.h"\n')
    insert(lattice / "collisions/all.h", "Regularized, ", "WideBGK, ")
    shutil.copy(HERE / "wall_at_distance.h", lattice / "boundary")
    insert(lattice / "boundary/all.h", '#include "velocity_inlet.h"\n', '#include "wall_at_distance.h"\n')
    insert(lattice / "boundary/all.h", "PressureOutlet, ", "WallAtDistance, ")

    collisions = package / "collisions.py"
    collisions.write_text(collisions.read_text() + COLLISION)
    insert(package / "conditions.py", "@dataclass(frozen=True, eq=False)\nclass Adiabatic", CONDITION, before=True)

    insert(reference / "collisions.py", '"bgk": _bgk, ', '"wide-bgk": _bgk, ')
    insert(reference / "boundaries.py", '"no-slip", ', '"wall-at-distance", ')
    back = "        back = self.f[(self.stencil.opposite[i], *cells)]\n"
    insert(reference / "lattice.py", back, REFERENCE, before=True)
    insert(reference / "lattice.py", "\n    def _wall_velocity(", FORMULA, before=True)
    insert(reference / "cases.py", '"pressure-outlet": (1.0, 0.01)', ', "wall-at-distance": (0.5, 0.4)')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
