"""The part of `Solver` that says what it was made of and where it runs."""

from __future__ import annotations

from ..collisions import Collision
from ..deprecated import renamed_attribute
from ..domain import Domain
from ..layout import Layout
from ..thermal import HybridThermal
from ..turbulence import TurbulenceModel
from .calls import HasSimulation


class SetupOfSolver(HasSimulation):
    """The properties of a solver that do not change."""

    @property
    def domain(self) -> Domain:
        """The domain, which does not change: another one needs another solver; its `copy` can be changed."""
        return self._simulation.domain

    @property
    def collision(self) -> Collision:
        """The collision."""
        return self._simulation.collision

    @property
    def thermal(self) -> HybridThermal | None:
        """The hybrid thermal model, which adds a temperature to the flow; None without one."""
        return self._simulation.thermal

    @property
    def turbulence(self) -> TurbulenceModel | None:
        """The turbulence model, however it was given; None without one."""
        return self._simulation.turbulence

    @property
    def precision(self) -> str:
        """Type of the arithmetic and of the fields."""
        return self._simulation.precision

    @property
    def storage(self) -> str:
        """Type that populations are kept in."""
        return self._simulation.storage

    @property
    def streaming(self) -> str:
        """``"in-place"`` or ``"two-lattice"``."""
        return self._simulation.streaming

    @property
    def state(self) -> str:
        """What a cell keeps from step to step, ``"populations"`` or ``"moments"``, also if ``"auto"`` was given."""
        return self._simulation.settings.state

    @property
    def device(self) -> str:
        """``"cpu"``, or ``"cuda:0"`` and so on; of several the names, as in ``"cuda:0, cuda:1"``."""
        return self._simulation.device

    @property
    def layout(self) -> Layout:
        """The blocks that the domain is cut into."""
        return self._simulation.layout

    @property
    def fluid_cells(self) -> int:
        """The number of cells of the domain that are in no body."""
        return self._simulation.fluid_cells

    @property
    def rank(self) -> int:
        """Of this process in `comm`; 0 for one process."""
        return self._simulation.rank

    @property
    def subdomain(self) -> tuple[slice, ...]:
        """The part of the domain's arrays that this process gives: the smallest box with all its blocks."""
        offset, size = self._simulation.engine.window
        return tuple(slice(a, a + n) for a, n in zip(offset, size, strict=True))

    window = renamed_attribute("window", "subdomain")

    @property
    def threads(self) -> int:
        """Number of CPU threads."""
        return self._simulation.engine.threads

    @property
    def steps(self) -> int:
        """Steps completed since the state was initialised."""
        return self._simulation.steps
