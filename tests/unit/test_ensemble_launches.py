"""How the members of an ensemble are launched together: more than go into one launch, other texts, an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.engine import together

from .test_ensemble import SHAPE, channel, same, wave


def test_more_members_than_one_launch_serves(device: str) -> None:
    """On a GPU the last launch then serves fewer than the others; members with other bodies go with them."""
    domains = [channel() for _ in range(70)]
    for number in (3, 40, 69):
        mask = np.zeros(SHAPE, bool)
        mask[5 : 6 + number % 5, 4:7] = True
        domains[number].add_body(mask)
    collisions = [lbm.BGK(0.02 + 0.001 * number) for number in range(70)]
    ensemble = lbm.Ensemble(domains, collisions, force=(1e-5, 0.0), initial={"velocity": wave}, device=device)
    alone = [lbm.Solver(d, c, force=(1e-5, 0.0), device=device) for d, c in zip(domains, collisions, strict=True)]
    for solver in alone:
        solver.initialize(velocity=wave)
    for steps in (3, 40):
        ensemble.step(steps)
        for solver in alone:
            solver.step(steps)
        same(ensemble, alone)


def test_members_with_other_texts_of_one_name(device: str) -> None:
    """Two collisions of users may have one name: each member has its own."""
    bgk = (Path(__file__).parents[2] / "src" / "cpp" / "lattice" / "collisions" / "bgk.h").read_text()
    text = bgk.replace("BGK :", "Mine :")
    collisions = [
        lbm.CustomCollision(text, {"viscosity": 0.05}, name="Mine"),
        lbm.CustomCollision(text.replace("Scalar<V>(-0.5)", "Scalar<V>(-0.25)"), {"viscosity": 0.05}, name="Mine"),
    ]
    assert collisions[0].text != collisions[1].text
    ensemble = lbm.Ensemble(channel(), collisions, initial={"velocity": wave}, device=device)
    alone = [lbm.Solver(channel(), collision, device=device) for collision in collisions]
    for solver in alone:
        solver.initialize(velocity=wave)
        solver.step(20)
    ensemble.step(20)
    same(ensemble, alone)
    assert not np.array_equal(alone[0].velocity(), alone[1].velocity())


class InterruptedGroup(_core.EngineGroup):
    """Ctrl-C arrives as the fifth step of a single member ends, which may be one of many in a call."""

    def __init__(self, engines: tuple[Any, ...], threads: int) -> None:
        super().__init__(engines, threads)
        self._engines = engines

    def step(self, steps: int) -> None:
        left = 5 - self._engines[0].steps
        if len(self._engines) == 1 and steps >= left:
            super().step(left)
            raise KeyboardInterrupt
        super().step(steps)


def test_ctrl_c_leaves_all_members_at_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with walls that change in time go first, the others follow as far as these have come."""
    moving = channel()
    moving.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.01 * np.sin(0.1 * t), 0.0))
    domains = [moving, *[channel() for _ in range(7)]]
    collisions = [lbm.BGK(0.05 + 0.01 * number) for number in range(8)]
    options: dict[str, Any] = {"device": "cpu", "threads": 1}
    ensemble = lbm.Ensemble(domains, collisions, initial={"velocity": wave}, **options)
    monkeypatch.setattr(together._core, "EngineGroup", InterruptedGroup)
    with pytest.raises(KeyboardInterrupt):
        ensemble.step(20)
    assert [ensemble[member].steps for member in range(8)] == [5] * 8
