"""The errors of runs and files, in addition to ValueError and TypeError for wrong arguments; and the warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import NamedTuple

_PACKAGE = str(Path(__file__).parent) + os.sep
_listener: ContextVar[Callable[[str], object] | None] = ContextVar("listener", default=None)


class Look(NamedTuple):
    """What a look for divergence found.

    Attributes:
        step: steps completed then.
        speed: the largest one of a fluid cell, cells a step.
        cell: index ``(x, y[, z])`` of the cell that has it; None if no cell has a finite one.
        lowest, highest: density.
        coldest, hottest: temperature, with `HybridThermal`; else None.
    """

    step: int
    speed: float
    cell: tuple[int, ...] | None
    lowest: float
    highest: float
    coldest: float | None = None
    hottest: float | None = None

    def __str__(self) -> str:
        if self.cell is None:
            return f"step {self.step}: no cell with finite values"
        text = f"step {self.step}: speed {self.speed:.3g} at {self.cell}, "
        text += f"density {self.lowest:.3g} to {self.highest:.3g}"
        if self.coldest is not None:
            text += f", temperature {self.coldest:.4g} to {self.hottest:.4g}"
        return text


class DivergedError(RuntimeError):
    """The state is not one of a flow.

    It holds a value that is not finite; or a speed above 0.6 cells a step, or a density below half of the least or
    above one and a half times the largest of the initial state. Where populations carry a temperature, a speed above 1.
    Or, with `HybridThermal` and steady walls without a heat source, a temperature that is further from those of the
    initial state and the walls, which no flow exceeds, than these are from each other.

    Attributes:
        step: steps completed when it was found.
        cell: index ``(x, y[, z])`` of a cell that is not valid; if all are, of the fastest one.
        checkpoint: the last checkpoint that the run wrote, or None.
        speed_limit: above which the temperature is unstable too, cells a step; None without a temperature.
        stable_temperature: temperature at which the stencil is most stable, if its populations carry one; else None.
        member: number of the member of an `Ensemble` that it is of; None of a solver.
        looks: the last looks for divergence, a `Look` each, the one that found it at the end.
        reason: what was found: ``"state"`` for a cell that is not valid, else ``"speed"``, ``"density"`` or
            ``"temperature"``.
        collision: the collision and its relaxation time, in words.
        causes: likely causes, each with what to change, in words; the likeliest first.
    """

    def __init__(
        self,
        step: int,
        cell: Sequence[int],
        checkpoint: Path | None = None,
        speed_limit: float | None = None,
        stable_temperature: float | None = None,
        member: int | None = None,
        *,
        looks: Sequence[Look] = (),
        reason: str = "state",
        collision: str = "",
        causes: Sequence[str] = (),
        warmth: float | None = None,
    ) -> None:
        if warmth is not None:
            warn_of_old_name("the argument warmth=", "stable_temperature=")
            stable_temperature = warmth
        self.step = step
        self.cell = tuple(int(i) for i in cell)
        self.checkpoint = checkpoint
        self.speed_limit = speed_limit
        self.stable_temperature = stable_temperature
        self.member = member
        self.looks = tuple(looks)
        self.reason = reason
        self.collision = collision
        self.causes = tuple(causes)
        super().__init__(step, self.cell, checkpoint, speed_limit, stable_temperature, member)

    def __str__(self) -> str:
        text = f"diverged: at step {self.step} {self._found()}; "
        if self.causes:
            text += f"likely by {'; or by '.join(self.causes)}"
        else:
            text += "a lower speed, a larger viscosity or a finer domain would be stabler"
        if self.speed_limit is not None:
            text += f", and the temperature needs speeds below {self.speed_limit:.4g} cells a step"
        if self.stable_temperature is not None:
            text += f", or temperatures nearer to cs2, {self.stable_temperature:.4g}: "
            text += "see the guide for how far they may be from it"
        if self.collision:
            text += f". The collision is {self.collision}"
        if len(self.looks) > 1:
            text += f". The last looks: {'; '.join(map(str, self.looks))}"
        if self.checkpoint is not None:
            text += f" (last checkpoint: {self.checkpoint})"
        return text

    def _found(self) -> str:
        member = "" if self.member is None else f" of member {self.member}"
        if self.reason == "speed":
            return (
                f"the speed of cell {self.cell}{member} is {self.looks[-1].speed:.3g} cells a step, more than a flow's"
            )
        if self.reason == "density":
            found = self.looks[-1]
            return (
                f"densities{member} are from {found.lowest:.3g} to {found.highest:.3g}, far from those at the "
                f"beginning, the fastest being cell {self.cell}"
            )
        if self.reason == "temperature":
            found = self.looks[-1]
            return (
                f"temperatures{member} are from {found.coldest:.4g} to {found.hottest:.4g}, far beyond those at the "
                f"beginning and of the walls, the fastest cell being {self.cell} at {found.speed:.3g} cells a step"
            )
        isothermal = self.speed_limit is None and self.stable_temperature is None
        what = "density or velocity" if isothermal else "density, velocity or temperature"
        return f"the {what} of cell {self.cell}{member} is not finite or too large"

    @property
    def warmth(self) -> float | None:
        """Old name of `stable_temperature`."""
        warn_of_old_name("DivergedError.warmth", "stable_temperature")
        return self.stable_temperature


class ThermallyUnstableError(ValueError):
    """A diffusivity, or a speed that is prescribed, with which the temperature's explicit steps would grow."""


class ThermallyUnstableWarning(RuntimeWarning):
    """The flow has got faster than the limit up to which explicit steps of the temperature are stable."""


class LayoutError(ValueError):
    """A layout that does not go with the domain or the job; raised on all ranks alike.

    Its blocks do not tile the domain, or one is of a host or a rank that is not there, or on a device that its host
    lacks.
    """


class TooLittleMemoryError(ValueError):
    """A solver or a recorder that needs more memory than its device has free; raised before anything is allocated."""


class CheckpointError(ValueError):
    """A checkpoint cannot be used: damaged, of an unknown version, or of another setup or run."""


class GeometryError(ValueError):
    """A file or an array holds no surface that encloses anything: damaged, empty, or not finite."""


class CaseError(ValueError):
    """A JSON case is wrong; `problems` holds a ``(path, message)`` for each thing found."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = list(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(f"{path}: {message}" for path, message in self.problems)


class StudyChangedWarning(UserWarning):
    """Results of a study are of another source of its function than the one at hand."""


class MissingResultsWarning(UserWarning):
    """Cases of a study have no result: they failed, diverged, or were killed."""


class DroppedFramesWarning(UserWarning):
    """A series that goes on after a checkpoint loses the frames of later steps than the checkpoint's."""


class GeometryWarning(RuntimeWarning):
    """A geometry will not do what it is given for in this domain: too few cells across, too narrow a gap, and so on."""


class IdleGpuWarning(RuntimeWarning):
    """A layout leaves a GPU of the job's hosts without a block."""


class StagedExchangeWarning(RuntimeWarning):
    """Two GPUs of one process do not reach each other's memory: what they exchange goes through the host's."""


class CoveredFaceWarning(RuntimeWarning):
    """Bodies cover a whole face with an inlet, an outlet or a moving wall, which so does nothing."""


class TooManyThreadsWarning(RuntimeWarning):
    """More CPU threads than cores that the process may use: they wait for each other, and steps take far longer."""


class UnreachableToleranceWarning(RuntimeWarning):
    """A tolerance of `Steady` below what rounding leaves of the change of a steady flow: the run will not end by it."""


class LoneProcessWarning(RuntimeWarning):
    """One of several processes that an MPI launcher started computes a whole domain: `comm` was not given."""


class LinearlyUnstableWarning(RuntimeWarning):
    """Small disturbances of a stream as fast as the flow grow in the bulk with this collision and viscosity."""


class LostDigitsWarning(RuntimeWarning):
    """The storage has too few digits for the setup: float32 for temperatures far from their reference, or float16."""


class ProjectedStateWarning(RuntimeWarning):
    """A checkpoint's populations hold more than the moments that the solver keeps of them: the rest is dropped."""


class DistantReferenceWarning(RuntimeWarning):
    """Temperatures far from the reference that buoyancy is counted from: the force is far larger than is meant."""


class ThinLayerWarning(RuntimeWarning):
    """A case's length has too few cells for the layers at heated walls that its Rayleigh number makes."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn in the name of the line outside the package that all this was called from."""
    if (listener := _listener.get()) is not None:
        listener(message)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def told_warnings(listener: Callable[[str], object]) -> Iterator[None]:
    """Have `listener` called with the text of each warning of this thread by `warn` too, whatever filters there are."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame is of this package, or of dataclasses on its behalf, whose code knows it by its module alone."""
    module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_PACKAGE) or module in (__package__, "dataclasses")


def warn_of_old_name(old: str, new: str) -> None:
    """Warn that an old spelling goes with the next version, and name the new one."""
    warn(f"{old} is now {new}; the old spelling works for one more version", DeprecationWarning)
