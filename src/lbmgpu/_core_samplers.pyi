"""What samples the state of an engine between steps, which `_core` has; there is no module of this name."""

import numpy as np
from numpy.typing import NDArray

from ._core import Engine

class SeriesSampler:
    """What an engine records after some of its steps."""

    @property
    def pending(self) -> int:
        """Samples that only `take` makes whole, with all ranks."""
    def sample(self, step: int) -> None:
        """Take a sample of the state and the walls of now, after `step` steps."""
    def take(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The steps and the numbers of what was recorded since the last call; all ranks call it together."""
    def remove(self) -> None:
        """Have the engine record no more."""

class CellStatistics:
    """Statistics of an engine's cells, which it samples after some of its steps.

    A slot is a float64 number for each cell: 0 to 4 the means of the density's deviation from 1, of three components
    of the velocity, and of the temperature as the engine has it; from 5 on their minima, from 10 on their maxima, from
    15 on the co-moments of their pairs (0, 0), (0, 1) and so on to (4, 4), which need both means.
    """

    def __init__(self, engine: Engine, every: int, start: int) -> None: ...
    def remove(self) -> None:
        """Take no more samples, and drop all slots."""

    @property
    def samples(self) -> int:
        """The number of samples since the last reset; setting it goes with setting all slots."""

    @samples.setter
    def samples(self, samples: int) -> None: ...
    def choose(self, slots: int) -> None:
        """Keep the slots whose bits are set, drop the others, add new ones. ValueError for an incomplete set."""

    def reset(self) -> None:
        """Forget all samples."""

    def get(self, slot: int) -> NDArray[np.float64]:
        """The numbers of a slot, of the window; 0 for cells of other processes, not defined in solid cells."""

    def set(self, slot: int, values: NDArray[np.float64]) -> None: ...
    def sums(self, slot: int, over: str) -> NDArray[np.int64]:
        """The sums of a slot over axes and this process's fluid cells, exact: three words of units 2^-11, 2^-43, 2^-75.

        The words are the last axis, after those axes of the window that are left, reversed.
        """

    @property
    def bytes(self) -> int:
        """Of all slots."""
