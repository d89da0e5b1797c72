"""The arguments `channel` and `schedule`: what they force, what the environment does without them, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.solver import simulation_of

DOMAIN = lbm.Domain((12, 8), "D2Q9")
LAYOUT = lbm.Layout.split((12, 8), (1, 2))


def made(**options: Any) -> lbm.Solver:
    """A solver of two blocks, in motion."""
    solver = lbm.Solver(DOMAIN, lbm.TRT(0.02), layout=LAYOUT, **options)
    solver.initialize(velocity=(0.05, 0.02))
    return solver


def choice(solver: lbm.Solver) -> tuple[set[str], bool]:
    """The channels of its links, and whether interiors are updated meanwhile."""
    engine = simulation_of(solver).engine
    return {link["channel"] for link in engine.links}, engine.overlaps


@pytest.mark.parametrize("channel", [None, "auto", "direct", "staged"])
@pytest.mark.parametrize("schedule", [None, "auto", "overlap", "blocking"])
def test_they_are_what_the_engine_does_and_change_no_bit(
    channel: str | None, schedule: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LBMGPU_CHANNEL", raising=False)
    monkeypatch.delenv("LBMGPU_SCHEDULE", raising=False)
    solver, one = made(channel=channel, schedule=schedule), lbm.Solver(DOMAIN, lbm.TRT(0.02))
    assert choice(solver) == ({"staged" if channel == "staged" else "direct"}, schedule == "overlap")
    one.initialize(velocity=(0.05, 0.02))
    for each in (one, solver):
        each.step(9)
    np.testing.assert_array_equal(solver.populations(), one.populations())


def test_the_environment_counts_where_nothing_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LBMGPU_CHANNEL", "staged")
    monkeypatch.setenv("LBMGPU_SCHEDULE", "overlap")
    solver = made()
    assert choice(solver) == ({"staged"}, True)
    assert choice(made(channel="auto", schedule="auto")) == ({"direct"}, False)
    assert choice(made(channel="direct")) == ({"direct"}, True)
    path = solver.save(tmp_path / "state.h5")
    assert choice(lbm.Solver.load(path, layout=LAYOUT)) == ({"staged"}, True)
    assert choice(lbm.Solver.load(path, layout=LAYOUT, channel="direct", schedule="blocking")) == ({"direct"}, False)


@pytest.mark.parametrize("name", ["channel", "schedule"])
def test_other_words_are_refused_before_an_engine_is_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(_core, "Engine", refuses)
    for wrong, error in (("late", ValueError), (3, TypeError), ("", ValueError)):
        with pytest.raises(error, match=f"^{name}: {wrong!r} given, must be "):
            made(**{name: wrong})
        with pytest.raises(error, match=f"^{name}: {wrong!r} given, must be "):
            lbm.plan((8, 8), "D2Q9", ["cpu", "cpu"], **{name: wrong})  # type: ignore[arg-type]
