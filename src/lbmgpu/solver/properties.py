"""What a solver is set up with, as it tells it."""

from __future__ import annotations

from typing import Any

from .. import _core, models
from ..collisions import Collision
from ..domain import Domain
from ..engine.settings import Settings
from ..guarded import Guarded
from ..layout import Block, Layout
from ..models import Model
from ..parallel.fair_lock import FairLock
from ..parallel.processes import Processes
from ..thermal import HybridThermal


class Described(Guarded):
    """The part of `Solver` that says what it is; nothing here changes it."""

    _settings: Settings
    _domain: Domain
    _processes: Processes
    _engine: _core.Engine
    _lock: FairLock

    def __reduce__(self) -> tuple[Any, ...]:
        """Refused, by a TypeError: memory of the engine goes through no pickle."""
        raise TypeError("Solver: cannot be pickled or copied; save and load take its state through a file")

    @property
    def domain(self) -> Domain:
        """The domain, which does not change: another one needs another solver; its `copy` can be changed."""
        return self._domain

    @property
    def collision(self) -> Collision:
        """The collision."""
        return self._settings.collision

    @property
    def thermal(self) -> HybridThermal | None:
        """The model of a temperature beside the flow, None for none."""
        return self._settings.thermal

    @property
    def _model(self) -> Model:
        """What cells are updated by."""
        return models.of(self._domain.stencil, thermal=self.thermal is not None)

    @property
    def _has_temperature(self) -> bool:
        """Whether there is a temperature, beside the flow or in its populations."""
        return self._model.has_temperature

    @property
    def _reference_temperature(self) -> float:
        """What the engine's temperatures are deviations from."""
        return 0.0 if self.thermal is None else self.thermal.reference

    @property
    def precision(self) -> str:
        """Type of the arithmetic and of the fields."""
        return self._settings.precision

    @property
    def storage(self) -> str:
        """Type that populations are kept in."""
        return self._settings.storage

    @property
    def streaming(self) -> str:
        """``"in-place"`` or ``"two-lattice"``."""
        return self._settings.streaming

    @property
    def device(self) -> str:
        """``"cpu"``, or ``"cuda:0"`` and so on; of several the names, as in ``"cuda:0, cuda:1"``."""
        return ", ".join(self._settings.devices)

    @property
    def layout(self) -> Layout:
        """The blocks that the domain is cut into."""
        return Layout(Block(tuple(b["offset"]), tuple(b["size"]), b["rank"], b["device"]) for b in self._engine.layout)

    @property
    def rank(self) -> int:
        """Of this process in `comm`; 0 for one process."""
        return self._processes.rank

    @property
    def window(self) -> tuple[slice, ...]:
        """The part of the domain's arrays that this process gives: the smallest box with all its blocks."""
        offset, size = self._engine.window
        return tuple(slice(a, a + n) for a, n in zip(offset, size, strict=True))

    @property
    def threads(self) -> int:
        """Number of CPU threads."""
        return self._engine.threads

    @property
    def steps(self) -> int:
        """Steps completed since the state was initialised."""
        with self._lock:
            return self._engine.steps
