"""The progress bar of a study: cases, those that run, their speed, and the time left."""

from __future__ import annotations

import time

from ..solver.progress import Bar
from .records import CaseFolder, Record

SECONDS_BETWEEN = 0.5
MOST_NAMED = 3


class StudyBar(Bar):
    """A bar of `total` cases of which `done` need no run; silent unless `shown`, and where nobody looks.

    A running case counts as the fraction of it that it says is done, so that the time left gets right early.
    """

    def __init__(self, total: int, done: int, shown: bool) -> None:
        self._done = float(done)
        self._running: dict[str, CaseFolder] = {}
        self._without_result = 0
        self._looked = 0.0
        layout = "{l_bar}{bar}| {n:.1f}/{total_fmt} cases [{elapsed}<{remaining}{postfix}]"
        super().__init__(shown, total=total, initial=done, bar_format=layout)

    def started(self, case: CaseFolder) -> None:
        """A case was started."""
        self._running[case.parameters.key] = case

    def again(self, case: CaseFolder) -> None:
        """A case that ended will be started again."""
        self._running.pop(case.parameters.key, None)

    def ended(self, case: CaseFolder, record: Record) -> None:
        """A case ended for good."""
        self._running.pop(case.parameters.key, None)
        self._done += 1
        self._without_result += record.status != "done"

    def refresh(self) -> None:
        """Show how it stands, seldom enough to cost nothing."""
        if self._bar is None or time.monotonic() - self._looked < SECONDS_BETWEEN:
            return
        self._looked = time.monotonic()
        progress = {key: case.progress() for key, case in list(self._running.items())}
        parts = [min(one.done / one.total, 1.0) if one.total > 0 else 0.0 for one in progress.values()]
        mlups = sum(one.mlups for one in progress.values())
        names = [str(case.parameters) for case in list(self._running.values())[:MOST_NAMED]]
        more = len(self._running) - len(names)
        words = [f"{mlups:.1f} MLUPS"] if mlups else []
        words += [f"{self._without_result} without result"] if self._without_result else []
        words += ["; ".join(names) + (f" and {more} more" if more > 0 else "")] if names else []
        self._bar.n = self._done + sum(parts)
        self._bar.set_postfix_str(", ".join(words), refresh=False)
        self._bar.refresh()
