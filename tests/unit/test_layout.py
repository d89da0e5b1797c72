"""Layouts: parts of a domain, files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lbmgpu as lbm
from lbmgpu.case.build import build_solver
from lbmgpu.case.read import read_case
from lbmgpu.engine.settings import check_devices
from lbmgpu.parallel.processes import Processes


def test_parts_are_as_equal_as_can_be() -> None:
    layout = lbm.Layout.split((7, 4, 3), (3, 1, 2))
    assert [(block.offset, block.size) for block in layout] == [
        ((0, 0, 0), (2, 4, 1)),
        ((0, 0, 1), (2, 4, 2)),
        ((2, 0, 0), (2, 4, 1)),
        ((2, 0, 1), (2, 4, 2)),
        ((4, 0, 0), (3, 4, 1)),
        ((4, 0, 1), (3, 4, 2)),
    ]
    assert {block.device for block in layout} == {"cpu"}
    devices = ["cpu", "cuda:1", "cuda:0"]
    assert [(block.size, block.device) for block in lbm.Layout.split((6, 4), (3, 1), devices)] == [
        ((2, 4), name) for name in devices
    ]
    assert [block.rank for block in layout] == [0] * 6
    assert [block.rank for block in lbm.Layout.split((6, 4), (3, 1), ranks=[2, 0, 1])] == [2, 0, 1]
    assert {block.rank for block in lbm.Layout.split((6, 4), (3, 1), ranks=1)} == {1}


def test_devices_share_the_last_axis_or_the_longest() -> None:
    assert [block.size for block in lbm.Layout.over((7, 4, 3), ["cpu"] * 2)] == [(7, 4, 1), (7, 4, 2)]
    assert [block.size for block in lbm.Layout.over((7, 4, 1), ["cpu"] * 2)] == [(3, 4, 1), (4, 4, 1)]
    solver = lbm.Solver(lbm.Domain((7, 8), "D2Q9"), lbm.BGK(0.1), device=["cpu", "cpu"])
    assert solver.layout == lbm.Layout.over((7, 8), ["cpu", "cpu"])
    assert solver.device == "cpu"
    with pytest.raises(ValueError, match="9 devices given, more than cells"):
        lbm.Solver(lbm.Domain((7, 8), "D2Q9"), lbm.BGK(0.1), device=["cpu"] * 9)


def test_a_file_gives_the_layout_back(tmp_path: Path) -> None:
    layout = lbm.Layout([lbm.Block((0, 0), (5, 8)), lbm.Block((5, 0), (3, 8))])
    path = layout.save(tmp_path / "layout.json")
    assert json.loads(path.read_text())["blocks"][1] == {"offset": [5, 0], "size": [3, 8], "rank": 0, "device": "cpu"}
    assert lbm.Layout.load(path) == layout
    solver = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=path)
    assert solver.layout == layout
    assert solver.device == "cpu"
    assert "(3, 8) at (5, 0) on cpu" in str(solver.report(bandwidth=False))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("{}", "'blocks' is a required property"),
        ('{"blocks": []}', r"blocks"),
        ('{"blocks": [{"offset": [0, 0]}]}', r"blocks\[0\].*'size' is a required property"),
        ('{"blocks": [{"offset": [0, 0], "size": [8, 8], "gpu": 1}]}', "'gpu' was unexpected"),
        ('{"blocks": [{"offset": [0, 0], "size": [8, 0.5]}]}', r"size\[1\].*not of type 'integer'"),
        ('{"blocks": [{"offset": [0, 0], "size": [8, 0]}]}', r"\$\.blocks\[0\]: block: size"),
        (
            '{"blocks": [{"offset": [0, 0], "size": [8, 8], "device": "gpu:0"}]}',
            r"\$\.blocks\[0\]: block: device: 'gpu:0' given, must be 'auto', 'cpu', 'cuda' or 'cuda:0'",
        ),
    ],
)
def test_a_wrong_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "layout.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        lbm.Layout.load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([((0, 0), (5, 8))], "gap"),
        ([((0, 0), (5, 8)), ((4, 0), (4, 8))], "overlaps"),
        ([((0, 0), (5, 8)), ((5, 0), (4, 8))], "does not lie inside"),
        ([((0, 0, 0), (8, 8, 1))], "2 numbers each"),
        ([((0, 0), (5, 8), 1), ((5, 0), (3, 8), 0)], "rank 1"),
        ([((0, 0), (7, 8)), ((2**30, 0), (1, 8))], "does not lie inside"),
    ],
)
def test_blocks_that_do_not_tile_the_domain_are_refused(blocks: list[tuple], message: str) -> None:
    layout = lbm.Layout(lbm.Block(*block) for block in blocks)
    with pytest.raises(ValueError, match=message):
        lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=layout)


def test_a_device_must_not_contradict_the_layout() -> None:
    layout = lbm.Layout.split((8, 8), (2, 1))
    for device in ("auto", "cpu"):
        assert lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=layout, device=device).device == "cpu"
    wrong = r"^device: .* given beside a layout on cpu, must be left out$"
    for device in ("cuda:0", "cuda", "gpu", ["cpu"], ["cpu", "cpu"], ("auto",), [], 3, None):
        with pytest.raises(ValueError, match=wrong):
            lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=layout, device=device)  # type: ignore[arg-type]


def test_a_device_beside_a_layout_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lbmgpu.parallel.devices.resolve", lambda name, node_rank=0: name)
    one = lbm.Layout.split((8, 8), (2, 1), "cuda:1")
    for device in ("auto", "cuda", "cuda:1"):
        assert check_devices(device, one, (8, 8), Processes()) == (one, ("cuda:1",))
    two = lbm.Layout.split((8, 8), (2, 1), ["cuda:1", "cpu"])
    assert check_devices("auto", two, (8, 8), Processes()) == (two, ("cuda:1", "cpu"))
    for layout, device in ((one, "cuda:0"), (one, "cpu"), (two, "cuda"), (two, "cpu"), (two, ["cuda:1", "cpu"])):
        with pytest.raises(ValueError, match=r"given beside a layout on cuda:1(, cpu)?, must be left out$"):
            check_devices(device, layout, (8, 8), Processes())


def test_wrong_arguments_of_a_layout() -> None:
    with pytest.raises(ValueError, match="as many numbers"):
        lbm.Block((0, 0), (1, 1, 1))
    with pytest.raises(ValueError, match=r"block: size"):
        lbm.Block((0, 0), (0, 1))
    with pytest.raises(TypeError, match=r"block: offset"):
        lbm.Block(3, (0, 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"block: size.*integer from 1 to 1073741824"):
        lbm.Block((0, 0), (2**40, 1))
    with pytest.raises(ValueError, match="'cuda:01' given, must be 'auto', 'cpu', 'cuda' or 'cuda:0' and so on"):
        lbm.Block((0, 0), (1, 1), device="cuda:01")
    with pytest.raises(ValueError, match="block: host: 'two words' given, must be the name of a host"):
        lbm.Block((0, 0), (1, 1), host="two words")
    with pytest.raises(TypeError, match="block: host: 3 given"):
        lbm.Block((0, 0), (1, 1), host=3)  # type: ignore[arg-type]
    assert (lbm.Block((0, 0), (1, 1)).rank, lbm.Block((0, 0), (1, 1), host="a").rank) == (0, None)
    with pytest.raises(TypeError, match="block: device"):
        lbm.Block((0, 0), (1, 1), device=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one for each of 4 blocks"):
        lbm.Layout.split((4, 4), (2, 2), ["cpu"] * 3)
    with pytest.raises(ValueError, match=r"ranks: .* given, must be one rank, or one for each of 4 blocks"):
        lbm.Layout.split((4, 4), (2, 2), ranks=[0, 1])
    with pytest.raises(ValueError, match="block: rank: -1 given"):
        lbm.Layout.split((4, 4), (2, 2), ranks=-1)
    for ranks in ("01", 0.5, [0, 0, 0, "1"]):
        with pytest.raises(TypeError, match="rank"):
            lbm.Layout.split((4, 4), (2, 2), ranks=ranks)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no block"):
        lbm.Layout([])
    with pytest.raises(TypeError, match="must be a Block"):
        lbm.Layout([(0, 0)])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="no more than there are cells"):
        lbm.Layout.split((3, 3), (4, 1))
    with pytest.raises(ValueError, match="2 numbers, one an axis"):
        lbm.Layout.split((3, 3), (1, 1, 1))


def test_a_case_names_its_layout(tmp_path: Path) -> None:
    case = {
        "domain": {"shape": [8, 6], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "run": {"steps": 3, "layout": "blocks.json"},
    }
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    with pytest.raises(lbm.CaseError, match=r"\$\.run\.layout.*blocks\.json"):
        build_solver(read_case(path), tmp_path)
    layout = lbm.Layout.split((8, 6), (2, 2))
    layout.save(tmp_path / "blocks.json")
    assert build_solver(read_case(path), tmp_path).layout == layout
    lbm.Layout.split((9, 6), (2, 2)).save(tmp_path / "blocks.json")
    with pytest.raises(lbm.CaseError, match=r"\$\.run\.layout: .*does not lie inside"):
        build_solver(read_case(path), tmp_path)
