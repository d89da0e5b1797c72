"""GPUs of one process that do not reach each other's memory are named, once, to whoever makes the solver."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.engine import settings
from lbmgpu.parallel.staged_exchange import staged_pairs, warn_of_staging


def blocks(*places: str) -> list[dict[str, Any]]:
    """Of the devices, each with the rank behind a slash."""
    parts = (place.split("/") for place in places)
    return [{"device": device, "rank": int(rank)} for device, rank in parts]


def link(source: int, target: int, channel: str) -> dict[str, Any]:
    return {"from": source, "to": target, "channel": channel, "bytes": 100.0}


def test_pairs_are_named_once() -> None:
    four = blocks("cuda:0/0", "cuda:1/0", "cuda:0/0", "cuda:2/0")
    both = [link(a, b, "staged") for a in range(4) for b in range(4) if a != b]
    assert staged_pairs(four, both) == [("cuda:0", "cuda:1"), ("cuda:0", "cuda:2"), ("cuda:1", "cuda:2")]
    assert staged_pairs(four, [link(1, 2, "staged"), link(2, 1, "staged"), link(0, 3, "direct")]) == [
        ("cuda:0", "cuda:1")
    ]


@pytest.mark.parametrize(
    ("places", "channel"),
    [
        (["cuda:0/0", "cuda:1/0"], "direct"),
        (["cuda:0/0", "cuda:1/1"], "mpi"),
        (["cuda:0/0", "cuda:1/1"], "staged"),
        (["cuda:0/0", "cuda:0/0"], "staged"),
        (["cuda:0/0", "cpu/0"], "staged"),
        (["cpu/0", "cpu/0"], "staged"),
    ],
)
def test_other_links_are_as_they_should_be(places: list[str], channel: str) -> None:
    links = [link(0, 1, channel), link(1, 0, channel)]
    assert staged_pairs(blocks(*places), links) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_staging(blocks(*places), links, "")


def test_the_warning_names_the_devices() -> None:
    links = [link(0, 1, "staged"), link(1, 0, "staged")]
    with pytest.warns(lbm.StagedExchangeWarning, match=r"^cuda:0 and cuda:1 do not reach .* the host's memory") as said:
        warn_of_staging(blocks("cuda:0/0", "cuda:1/0"), links, "")
    assert len(said) == 1
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_staging(blocks("cuda:0/0", "cuda:1/0"), links, "staged")


def test_a_solver_warns_at_the_line_that_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it would where its two devices were GPUs that do not reach each other."""
    monkeypatch.setattr("lbmgpu.parallel.staged_exchange.staged_pairs", lambda blocks, links: [("cuda:0", "cuda:1")])
    check_devices = settings.check_devices
    monkeypatch.setattr(settings, "check_devices", lambda *args: (check_devices(*args)[0], ("cpu", "cpu")))
    domain = lbm.Domain((8, 8), "D2Q9")
    with pytest.warns(lbm.StagedExchangeWarning) as said:
        lbm.Solver(domain, lbm.BGK(0.1), device=["cpu", "cpu"])
    assert [warning.filename for warning in said] == [__file__]
    monkeypatch.setenv("LBMGPU_CHANNEL", "staged")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lbm.Solver(domain, lbm.BGK(0.1), device=["cpu", "cpu"])


@pytest.mark.gpu
def test_gpus_that_reach_each_other_exchange_directly_and_nothing_is_said(
    gpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All there are, in a ring; where two neighbours cannot, it is said."""
    monkeypatch.delenv("LBMGPU_CHANNEL", raising=False)
    names = [f"cuda:{k}" for k in range(_core.cuda_device_count())]
    ring = {(a, b) for a, b in zip(names, [*names[1:], names[0]], strict=True) if a != b}
    apart = {tuple(sorted(pair)) for pair in ring if not _core.device_can_access(*pair)}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", lbm.StagedExchangeWarning)
        solver = lbm.Solver(lbm.Domain((16, 8, 8 * len(names))), lbm.BGK(0.1), device=names)
    words = "".join(str(warning.message) for warning in said if warning.category is lbm.StagedExchangeWarning)
    assert bool(words) == bool(apart)
    assert all(f"{a} and {b}" in words for a, b in apart)
    if not apart:
        assert {entry["channel"] for entry in solver._simulation.engine.links} <= {"direct"}
