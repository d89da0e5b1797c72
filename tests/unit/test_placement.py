"""Blocks find their hosts, ranks and devices, and ranks without a layout the cut that is right for them."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu.parallel import cuts, gpu, hosts, placement
from lbmgpu.parallel.processes import Processes, layout_over
from lbmgpu.planning.arrangement import arrangements
from lbmgpu.planning.cost_model import Device, Link, Machine
from lbmgpu.planning.default_cut import cut_for
from lbmgpu.planning.job import representatives

FOUR = ["a", "a", "b", "b"]


def blocks_of(*hosts_and_ranks: tuple[str | None, int | None], device: str = "cpu") -> lbm.Layout:
    count = len(hosts_and_ranks)
    boxes = lbm.Layout.split((8, count), (1, count))
    return lbm.Layout(
        lbm.Block(box.offset, box.size, rank, device, host)
        for box, (host, rank) in zip(boxes, hosts_and_ranks, strict=True)
    )


def owners(layout: lbm.Layout, names: list[str]) -> list[int | None]:
    return [block.rank for block in placement.matched(layout, names)]


def test_ranks_without_a_device_have_their_own() -> None:
    """The line of the guide."""
    assert {block.device for block in lbm.Layout.split((4, 4, 4), (1, 2, 2), ranks=range(4))} == {"auto"}
    assert {block.device for block in lbm.Layout.split((4, 4, 4), (1, 2, 2), ranks=0)} == {"auto"}
    assert {block.device for block in lbm.Layout.split((4, 4, 4), (1, 2, 2))} == {"cpu"}
    assert {block.device for block in lbm.Layout.split((4, 4, 4), (1, 2, 2), "cpu", ranks=range(4))} == {"cpu"}


def test_auto_and_cuda_are_the_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(name: str, node_rank: int = 0) -> str:
        return f"cuda:{node_rank}" if name in ("auto", "cuda") else name

    monkeypatch.setattr("lbmgpu.parallel.devices.resolve", resolve)
    layout = lbm.Layout([lbm.Block((0, 0), (4, 4), device="auto"), lbm.Block((4, 0), (4, 4), device="cpu")])
    assert [block.device for block in placement.placed(layout, Processes())] == ["cuda:0", "cpu"]
    assert [block.device for block in placement.placed(layout, Processes(), "cpu")] == ["cpu", "cpu"]
    assert [block.device for block in placement.placed(layout, Processes(), ["cpu"])] == ["cuda:0", "cpu"]
    monkeypatch.setattr(Processes, "node_rank", 3)
    assert [block.device for block in placement.placed(layout, Processes())] == ["cuda:3", "cpu"]


def test_blocks_of_a_host_are_dealt_among_its_ranks() -> None:
    assert owners(blocks_of(("b", None), ("a", None), ("b", None), ("a", None)), FOUR) == [2, 0, 3, 1]
    three_each = blocks_of(*[("a", None)] * 3, *[("b", None)] * 3)
    assert owners(three_each, FOUR) == [0, 0, 1, 2, 2, 3]
    assert owners(blocks_of(("b", None), ("a", 1), ("b", 3), ("a", None)), FOUR) == [2, 1, 3, 0]
    assert owners(blocks_of(("a", None), ("b", None)), ["b.cluster", "a.cluster"]) == [1, 0]
    assert owners(blocks_of(("a.cluster", 0), (None, 1)), ["a", "b"]) == [0, 1]
    assert owners(blocks_of(("a", None), ("a.cluster", None)), ["a.cluster", "a.cluster"]) == [0, 1]


def test_a_gpu_without_a_driver_is_the_layouts_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(name: str, node_rank: int = 0) -> str:
        raise lbm.CudaError("no CUDA driver")

    monkeypatch.setattr("lbmgpu.parallel.devices.resolve", resolve)
    own = lbm.Layout([lbm.Block((0, 0), (4, 4), device="cuda:0")])
    with pytest.raises(lbm.LayoutError, match=r"block 0 of rank 0 on .*: no CUDA driver"):
        placement.placed(own, Processes())
    with pytest.raises(lbm.CudaError, match=r"^no CUDA driver"):
        placement.placed(lbm.Layout([lbm.Block((0, 0), (4, 4), device="auto")]), Processes(), "cuda")


@pytest.mark.parametrize(
    ("layout", "names", "message"),
    [
        (blocks_of(("c", 0), (None, 1)), ["a", "b"], "block 0 is of host 'c', but the job runs on a, b$"),
        (blocks_of((None, 0), ("c", None)), ["a"], "block 1 is of host 'c', but the job runs on a$"),
        (blocks_of(("a", 0), ("a", 1)), ["a", "b"], "block 1 is of host 'a' and rank 1, but that rank is on 'b'$"),
        (blocks_of((None, 0), (None, 2)), ["a", "b"], "block 1 is of rank 2, but there are 2 processes, numbered"),
        (blocks_of((None, 0), (None, 0)), ["a", "b"], r"no block is of rank 1 \(on 'b'\), but there are 2 processes$"),
        (blocks_of(("a", None)), ["a", "a"], "no block is of rank 1, but there are 2 processes$"),
        (
            blocks_of(("x", 0)),
            [f"n{k}" for k in range(9)],
            "block 0 is of host 'x', but the job runs on n0, n1, n2, n3 and 5 more$",
        ),
        (blocks_of(("a.one", 0)), ["a.two"], "block 0 is of host 'a.one'"),
    ],
)
def test_what_does_not_match_has_one_name(layout: lbm.Layout, names: list[str], message: str) -> None:
    with pytest.raises(lbm.LayoutError, match=f"^layout: {message}"):
        placement.matched(layout, names)


def test_a_solver_refuses_what_does_not_match(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, collision = lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1)
    monkeypatch.setenv(hosts.VARIABLE, "here")
    mine = lbm.Layout([lbm.Block((0, 0), (8, 8), None, "cpu", "here")])
    solver = lbm.Solver(domain, collision, layout=mine)
    assert list(solver.layout) == [lbm.Block((0, 0), (8, 8), 0, "cpu", "here")]
    for block in (lbm.Block((0, 0), (8, 8), host="there"), lbm.Block((0, 0), (8, 8), 1), lbm.Block((0, 0), (8, 7))):
        with pytest.raises(lbm.LayoutError, match=r"^layout: "):
            lbm.Solver(domain, collision, layout=lbm.Layout([block]))
    monkeypatch.setattr("lbmgpu._core.cuda_device_count", lambda: 2)
    with pytest.raises(lbm.LayoutError, match=r"^layout: block 0 of rank 0 on here: device: 'cuda:7' given, but there"):
        lbm.Solver(domain, collision, layout=lbm.Layout.split((8, 8), (1, 1), "cuda:7"))


def test_hosts_go_through_a_file(tmp_path: Path) -> None:
    layout = blocks_of(("a", None), ("b", 1), (None, 2), device="cuda")
    path = layout.save(tmp_path / "layout.json")
    assert lbm.Layout.load(path) == layout
    first, second, third = json.loads(path.read_text())["blocks"]
    assert first == {"offset": [0, 0], "size": [8, 1], "device": "cuda", "host": "a"}
    assert (second["rank"], third["rank"]) == (1, 2)
    assert "host" not in third
    path.write_text('{"blocks": [{"offset": [0, 0], "size": [8, 8], "host": "no name"}]}')
    with pytest.raises(ValueError, match=r"\$\.blocks\[0\]: block: host: 'no name' given"):
        lbm.Layout.load(path)


def test_the_name_of_the_host_is_the_machines_unless_pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(hosts.VARIABLE, raising=False)
    monkeypatch.setattr("platform.node", lambda: "machine")
    assert (hosts.own_name(), hosts.pretended()) == ("machine", "")
    monkeypatch.setenv(hosts.VARIABLE, "other")
    assert hosts.own_name() == hosts.pretended() == "other"


class Two(Processes):
    """The first of two ranks, of which the other says the same but for what is given here."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        super().__init__()
        self.size = 2

    def shared(self, own: Any) -> list[Any]:
        """What this rank says, and the other."""
        return [own, self.answers.get("other", own)]


@pytest.mark.parametrize(
    ("device", "seen_there", "idle"),
    [
        ("cuda:0", {"y": "cuda:0"}, "cuda:0 of b"),
        ("cpu", {}, "cuda:0 of here"),
        ("cpu", {"y": "cuda:1"}, "cuda:0 of here, cuda:1 of b"),
        ("cuda:0", {"x": "cuda:0"}, None),
        ("cuda:0", {}, None),
    ],
)
def test_a_gpu_without_a_block_is_warned_of(
    device: str, seen_there: dict[str, str], idle: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hosts.VARIABLE, "here")
    monkeypatch.setattr("lbmgpu._core.cuda_device_count", lambda: 1)
    monkeypatch.setattr(gpu, "uuid", lambda number: "x")
    layout, processes = blocks_of((None, 0), (None, 1), device=device), Two(other=["b", seen_there, []])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        placement.warn_of_idle_gpus(layout, processes)
        placement.warn_of_idle_gpus(layout, Processes())  # of one process nothing is said
    assert [entry.category for entry in said] == ([] if idle is None else [lbm.IdleGpuWarning])
    if idle is not None:
        assert str(said[0].message).startswith(f"layout: no block is on {idle}, which the job's ranks see; ")


@pytest.mark.parametrize(
    ("shape", "blocks", "parts"),
    [
        ((512, 512, 512), 2, (1, 1, 2)),
        ((512, 512, 512), 4, (1, 1, 4)),  # as little surface as 1 x 2 x 2, and fewer axes
        ((512, 512, 512), 6, (1, 2, 3)),
        ((512, 512, 512), 8, (1, 2, 4)),
        ((512, 512, 512), 64, (1, 8, 8)),
        ((512, 1024, 256), 4, (1, 4, 1)),
        ((64, 4, 3), 12, (1, 4, 3)),
        ((64, 4, 3), 24, (24, 1, 1)),
        ((4096, 4096), 8, (1, 8)),
        ((100, 4), 8, (8, 1)),
        ((100, 4), 5, (5, 1)),
        ((7, 5, 3), 1, (1, 1, 1)),
    ],
)
def test_the_least_surface_that_keeps_rows_whole(shape: tuple[int, ...], blocks: int, parts: tuple[int, ...]) -> None:
    assert cuts.least_surface(shape, blocks) == parts
    assert math.prod(parts) == blocks


def test_more_blocks_than_cells_are_refused() -> None:
    with pytest.raises(ValueError, match=r"device: 9 devices given, more than blocks that \(2, 2, 2\) can be cut into"):
        cuts.least_surface((2, 2, 2), 9)
    assert cuts.least_surface((64, 8), 4, least=3) == (4, 1)  # blocks as long as the stencil reaches, if there are any
    assert cuts.least_surface((4, 8), 4, least=3) == (1, 4)


def test_the_model_decides_where_it_says_better() -> None:
    """Whole rows as long as the exchange is hidden behind the interior, and other cuts where it is not."""
    cut = cut_for("D3Q19", "float32")

    def gpus(count: int, a_host: int = 8) -> list[tuple[int, str, str]]:
        return [(rank, f"cuda:{rank % a_host}", f"node{rank // a_host}") for rank in range(count)]

    assert cut((512, 512, 512), gpus(4)) == (1, 1, 4)
    assert cut((512, 512, 512), gpus(64)) == (1, 8, 8)
    many = cut((512, 512, 512), gpus(4096))
    assert math.prod(many) == 4096
    assert many[0] > 1  # 1 x 64 x 64 has rows of 8 x 8 cells
    cpus = [(rank, "cpu", "node") for rank in range(6)]
    assert cut((60, 60, 60), cpus) == (1, 2, 3)
    assert cut_for("D2Q37", "float64")((64, 4096), [(rank, "cuda:0", "node") for rank in range(4)]) == (1, 4)


def test_ranks_without_a_layout_are_cut_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hosts.VARIABLE, "here")
    four = ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]
    layout = layout_over(Two(), (32, 32, 32), four)
    assert [block.size for block in layout] == [(32, 16, 8)] * 8
    assert [(block.rank, block.device) for block in layout] == [(rank, name) for rank in (0, 1) for name in four]
    seen: list[Any] = []

    def cut(shape: tuple[int, ...], places: Any) -> tuple[int, ...]:
        seen[:] = places
        return (2, 1, 4)

    assert [block.size for block in layout_over(Two(other=["b", ["cpu"] * 4]), (32, 32, 32), four, cut)] == [
        (16, 32, 8)
    ] * 8
    assert seen == [(0, name, "here") for name in four] + [(1, "cpu", "b")] * 4
    one = layout_over(Processes(), (32, 32, 32), [*four, *four])
    assert [block.size for block in one] == [(32, 32, 4)] * 8  # layers, in one process


def test_the_ranks_of_a_host_are_side_by_side() -> None:
    devices = [Device(f"cuda:{rank % 4}", 1e12, host=rank // 4, rank=rank) for rank in range(16)]
    found = arrangements((1, 4, 4), devices)
    assert found[0] == tuple(devices)
    assert all(sorted(order, key=lambda d: d.process) == devices for order in found)
    bricks = [order for order in found if [order[k].host for k in (0, 1, 4, 5)] == [0] * 4]
    assert len(bricks) == 1
    assert [device.process for device in bricks[0][:8]] == [0, 1, 4, 5, 2, 3, 6, 7]
    assert arrangements((1, 4, 4), devices[:4]) == [tuple(devices[:4])]
    assert arrangements((1, 1, 5), devices[:5]) == [tuple(devices[:5])]  # hosts with unequal numbers


def test_the_plan_of_several_hosts_names_ranks_and_hosts() -> None:
    """Of a network so slow that its surface decides, in bricks of a host."""
    devices = tuple(Device(f"cuda:{rank % 4}", 4e12, 5e-6, host=rank // 4, rank=rank, model="H") for rank in range(16))
    ways = {("ranks", "H", "H"): Link("ranks", 4e11, 1e-6), ("network", "H", "H"): Link("network", 1e9, 1e-5)}
    machine = Machine(devices, ways=ways, hosts=("n0", "n1", "n2", "n3"))
    plan = lbm.plan((64, 256, 256), machine=machine, schedule="blocking")
    assert [(block.host, block.rank, block.device) for block in plan.layout if block.rank in (0, 7, 15)] == [
        ("n0", 0, "cuda:0"),
        ("n1", 7, "cuda:3"),
        ("n3", 15, "cuda:3"),
    ]
    square = next(candidate for candidate in plan.candidates if candidate.tiling.parts == (1, 4, 4))
    assert [square.devices[k].host for k in (0, 1, 4, 5)] == [0] * 4
    unnamed = Machine(tuple(Device(f"cuda:{k % 2}", 4e12, host=k // 2) for k in range(4)), {
        "peer": Link("peer", 3e11), "network": Link("network", 5e10)
    })  # fmt: skip
    assert [(b.rank, b.device, b.host) for b in lbm.plan((64, 64, 64), machine=unnamed).layout] == [
        (0, "cuda:0", None),
        (0, "cuda:1", None),
        (1, "cuda:0", None),
        (1, "cuda:1", None),
    ]


def test_one_link_stands_for_those_like_it() -> None:
    def device(rank: int, host: int, model: str) -> Device:
        return Device("cpu" if model == "C" else f"cuda:{rank}", 1e12, host=host, rank=rank, model=model)

    devices = [device(0, 0, "G"), device(0, 0, "C"), device(1, 0, "G"), device(2, 1, "G"), device(3, 1, "C")]
    found = representatives(devices)
    assert found["ranks", "G", "G"] == ((0, "cuda:0"), (1, "cuda:1"))
    assert found["ranks", "C", "G"] == ((0, "cpu"), (1, "cuda:1"))
    assert ("ranks", "C", "C") not in found
    assert found["network", "C", "C"] == ((0, "cpu"), (3, "cpu"))
    assert found["network", "G", "G"] == ((0, "cuda:0"), (2, "cuda:2"))
    assert set(found) == {
        ("ranks", "G", "G"),
        ("ranks", "C", "G"),
        ("network", "C", "C"),
        ("network", "C", "G"),
        ("network", "G", "G"),
    }
    assert representatives(devices[:2]) == {}
