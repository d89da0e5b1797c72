"""The progress bar of a run, in a terminal or a notebook."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, TypeVar


def watched() -> bool:
    """Whether standard error is a terminal or a notebook; in a file, the frames of a bar would pile up."""
    return sys.stderr is not None and (sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel"))


Shown = TypeVar("Shown", bound="Bar")


class Bar:
    """A bar of tqdm with these options; none unless `shown`, and where nobody looks."""

    def __init__(self, shown: bool, **options: Any) -> None:
        self._bar: Any = None
        if shown and watched():
            from tqdm.auto import tqdm  # here, as it takes a while to be loaded

            self._bar = tqdm(dynamic_ncols=True, **options)

    def __enter__(self: Shown) -> Shown:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


class Progress(Bar):
    """A bar of `steps` with the speed in MLUPS and the remaining time; silent unless `shown`, and where none looks."""

    def __init__(self, steps: int, cells: int, shown: bool) -> None:
        self._cells = cells
        self._steps = 0
        self._seconds = 0.0
        self._postfix: dict[str, str] = {}
        super().__init__(shown, total=steps, unit="step")

    def update(self, steps: int, seconds: float) -> None:
        """Count `steps` done in `seconds`."""
        if self._bar is None:
            return
        self._steps += steps
        self._seconds += seconds
        if self._seconds > 0:
            self._postfix["MLUPS"] = f"{self._cells * self._steps / self._seconds / 1e6:.1f}"
        self._bar.set_postfix(self._postfix, refresh=False)
        self._bar.update(steps)

    def change(self, change: float) -> None:
        """Show the change of what is to get steady."""
        self._postfix["change"] = f"{change:.1e}"
