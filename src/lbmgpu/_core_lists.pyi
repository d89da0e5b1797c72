"""What the engine has lists of, and what is in them, which `_core` has; there is no module of this name."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

class Stencil:
    """A velocity set, as data."""

    @property
    def name(self) -> str: ...
    @property
    def D(self) -> int: ...
    @property
    def Q(self) -> int: ...
    @property
    def cs2(self) -> float: ...
    @property
    def radius(self) -> int: ...
    @property
    def c(self) -> NDArray[np.int32]:
        """Velocities, ``(Q, D)``."""
    @property
    def w(self) -> NDArray[np.float64]:
        """Weights, ``(Q,)``."""
    @property
    def opposite(self) -> NDArray[np.int32]: ...
    @property
    def moment_names(self) -> list[str]:
        """Names of the MRT moments, in the order of the rows of `moment_matrix`."""
    @property
    def moment_groups(self) -> list[str]:
        """For each moment the name of the relaxation rate that governs it; ``"conserved"`` for moments that do not
        relax, ``"nu"`` where the viscosity sets it."""
    @property
    def moment_matrix(self) -> NDArray[np.int32]:
        """The orthogonal moment basis, ``(Q, Q)``."""
    @property
    def default_rates(self) -> dict[str, float | None]:
        """The rate of each named group (neither ``"conserved"`` nor ``"nu"``); None where it is that of the stress."""

def stencil(name: str) -> Stencil:
    """The stencil called `name`; ValueError names the known ones."""

def stencil_names() -> list[str]: ...
def lattice_headers() -> list[str]: ...  # paths below src/cpp that the text of a user's collision may include
def face_conditions() -> dict[str, str]:
    """The conditions of faces, and what each takes for every cell: ``velocity``, ``number`` or nothing."""

def boundary_numbers() -> dict[str, int]:
    """How many numbers a boundary cell keeps, for each condition that computes all incoming populations at once."""

def most_steps_between() -> int: ...  # for which an eddy viscosity may hold
def turbulence_models() -> dict[str, bool]: ...  # by name whether they take velocity gradients
def gradient_bytes(
    dimensions: int, viscosity: bool, strain: bool, precision: str, storage: str, every: int, on_gpu: bool = False
) -> int: ...
def least_odd_rate(stencil: str, viscosity: float) -> float: ...  # of CentralMoments, unless another is given
def cell_operations(
    stencil: str,
    collision: str,
    *,
    forced: bool = False,
    moments: bool = False,
    variable_prandtl: bool = False,
    fourth_order_diffusion: bool = False,
) -> tuple[int, int, int, int]:
    """The sums, products, quotients and roots of a cell's update, without an eddy viscosity."""

def collision_names(stencil: str = "") -> list[str]:
    """The engine's names of the collisions that support `stencil`, or of all."""

def moment_collisions() -> list[str]:
    """The names of those that may keep their state as moments."""

def moment_faces() -> list[str]:
    """The names of the conditions of faces that go with these."""

def models() -> dict[str, dict[str, Any]]:
    """What each model supports, by its name.

    ``stencils``, names; ``smallest_size``, the fewest cells along an axis for each of them; ``numbers``, pairs of
    precision and storage; ``streamings``, the preferred one first; ``faces`` and ``thermal_faces``, the conditions of
    flow and temperature; ``bodies``, whether there may be any; ``nonequilibrium``, whether initial states may have the
    first-order part that gradients imply;
    ``fields``, of ``density``, ``velocity``, ``temperature``, ``heat_flux``; ``drives``, of ``force`` (a volume),
    ``buoyancy`` (the same for each unit of temperature), ``gravity`` (an acceleration), ``heat_source``;
    ``temperature``: ``none``, a ``field`` in addition to the populations, or a ``moment`` of them.
    """
