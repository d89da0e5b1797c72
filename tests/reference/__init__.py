"""A slow lattice Boltzmann solver in plain NumPy that shares nothing with the engine.

It keeps full populations in float64 as arrays ``(Q, nx, ny[, nz])``, streams with ``np.roll``, patches the links that
cross a face or meet a body one list at a time, and collides with the formulas as the papers print them.
"""

from .collisions import Collision, collide, equilibrium, guo_source
from .lattice import Reference
from .stencils import STENCILS, Stencil
from .thermal import Heat, ThermalReference

__all__ = [
    "STENCILS",
    "Collision",
    "Heat",
    "Reference",
    "Stencil",
    "ThermalReference",
    "collide",
    "equilibrium",
    "guo_source",
]
