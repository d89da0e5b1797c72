"""Tests that unsuitable files are refused, on reading and on writing.

They are non-regular and oversized files, links, names with control characters, headers that a spreadsheet would take
for formulas, and duplicate keys.
"""

from __future__ import annotations

import csv
import json
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import cli, values
from lbmgpu.case import read as case_file, tables
from lbmgpu.files import regular_files
from lbmgpu.files.log_file import LogFile, PlainFormatter
from lbmgpu.files.regular_files import MaskFile, output_file, read_mask, read_text, regular_file

from .support import cavity, cube

CASE: dict[str, Any] = {
    "domain": {"shape": [8, 6], "stencil": "D2Q9"},
    "collision": {"model": "BGK", "viscosity": 0.1},
    "run": {"steps": 4, "device": "cpu", "threads": 1},
}
CONTROL = ["a\0b", "a\nb", "\x1b[31mred", "\x7f", "\x9b1m", "\u2028", "\u202egnp", "\ud800"]


def special(folder: Path) -> dict[str, Path]:
    """Things that are no regular files, by what they are called."""
    pipe, link = folder / "pipe", folder / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    return {"a pipe": pipe, "a folder": folder, "a device": link}


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    for kind, path in special(tmp_path).items():
        with pytest.raises(ValueError, match=f"mask: {path} is {kind}, must be a regular file"):
            regular_file("mask", path)
        with pytest.raises(lbm.CaseError, match=f"cannot be read.*is {kind}"):
            case_file.read_case(path)
        with pytest.raises(ValueError, match=f"layout: {path} is {kind}"):
            lbm.Layout.load(path)


def test_large_files_are_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    huge.touch()
    os.truncate(huge, 2**36)
    for read in (case_file.read_case, lbm.Layout.load):
        with pytest.raises(ValueError, match=f"has {2**36} bytes, must have at most"):
            read(huge)
    with pytest.raises(ValueError, match="NumPy array"):
        read_mask("file", huge, (8, 6))


def test_a_file_longer_than_it_says_is_not_read_whole() -> None:
    with pytest.raises(ValueError, match="must have at most 10"):
        read_text("path", "/proc/self/status", at_most=10)  # has a size of 0


def save(path: Path, array: Any, **options: Any) -> Path:
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, **options)
    return path


def test_masks_are_read_as_they_were_saved(tmp_path: Path) -> None:
    mask = np.random.default_rng(1).random((8, 6)) < 0.5
    for number, array in enumerate((mask, np.asfortranarray(mask), mask[::-1][::-1])):
        for version in ((1, 0), (2, 0)):
            path = save(tmp_path / f"{number}.npy", array, version=version)
            np.testing.assert_array_equal(read_mask("file", path, (8, 6)), mask)


@pytest.mark.parametrize("piece", [1, 50, 10**6])
def test_parts_of_masks_are_read(piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_files, "_PIECE", piece)
    random, shape = np.random.default_rng(1), (8, 6, 5)
    mask = random.random(shape) < 0.5
    for array in (mask, np.asfortranarray(mask)):
        file = MaskFile("file", save(tmp_path / "mask.npy", array), shape)
        for _ in range(20):
            axes = [np.arange(random.integers(1, n)) + random.integers(n) for n in shape]
            axes = [axis % n for axis, n in zip(axes, shape, strict=True)]
            np.testing.assert_array_equal(file(*values.centres([axis + 0.5 for axis in axes])), mask[np.ix_(*axes)])


def test_masks_are_refused_by_their_header(tmp_path: Path) -> None:
    path = tmp_path / "mask.npy"
    for array, error, words in (
        (np.zeros((8, 6)), TypeError, "holds an array of float64, must be bool"),
        (np.zeros((6, 8), bool), ValueError, r"holds an array of shape \(6, 8\), must be the domain's, \(8, 6\)"),
        (np.array([None]), TypeError, "holds an array of object"),
    ):
        save(path, array, allow_pickle=True)
        for read in (read_mask, MaskFile):
            with pytest.raises(error, match=words):
                read("file", path, (8, 6))
    whole = save(path, np.zeros((8, 6), bool)).read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="ends before its array of 48 cells does"):
        read_mask("file", path, (8, 6))
    for header in ("(1048576, 1048576)", "(-8, -6)", "(8, 6.5)", "('a',)"):
        path.write_bytes(whole.replace(b"(8, 6), }".ljust(24), f"{header}, }}".encode().ljust(24)))
        with pytest.raises(ValueError, match=r"mask\.npy"):
            read_mask("file", path, (8, 6))
    np.savez(tmp_path / "mask.npz", mask=np.zeros((8, 6), bool))
    with pytest.raises(ValueError, match="cannot be read as a NumPy array"):
        read_mask("file", tmp_path / "mask.npz", (8, 6))


def test_nothing_behind_a_link_is_written_to(tmp_path: Path) -> None:
    other, link, pipe = tmp_path / "other", tmp_path / "run.log", tmp_path / "pipe"
    other.write_text("kept")
    link.symlink_to(other)
    os.mkfifo(pipe)
    for append in (True, False):
        for path, kind in ((link, "a symbolic link"), (pipe, "a pipe"), (tmp_path, "a folder")):
            with pytest.raises(OSError, match=f"{path}: is {kind}, must be a regular file"):
                os.close(output_file(path, append=append))
    with pytest.raises(OSError, match="is a symbolic link"):
        LogFile(link, append=True)
    with pytest.raises(OSError, match="is a symbolic link"):
        tables.start(link, ["a"])
    assert other.read_text() == "kept"


@pytest.mark.parametrize("name", ["run.log", "forces.csv", "fields.vti", "checkpoint.h5", "speed.png", "lbmgpu.lock"])
def test_what_a_run_cannot_write_is_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    body = {"shape": "sphere", "center": [4, 3], "radius": 1}
    output = {"vtk": True, "checkpoint": {}, "image": {}, "forces": {"every": 1}}
    (tmp_path / "case.json").write_text(json.dumps(CASE | {"bodies": [body], "output": output}))
    target = tmp_path / "out" / name
    target.mkdir(parents=True)
    assert cli.main(["run", str(tmp_path / "case.json"), "--output", str(target.parent)]) == cli.FAILED
    said = capsys.readouterr().err
    assert f"{target}: is a folder, must be a regular file" in said
    assert "done after" not in said
    assert not (target.parent / "lbmgpu.lock").is_file()


@pytest.mark.parametrize("name", CONTROL)
def test_names_have_no_control_characters(name: str) -> None:
    with pytest.raises(ValueError, match=r"name: .* none of them a control character"):
        lbm.Domain((8, 6), "D2Q9").add_body(cube((8, 6)), name)
    body = {"shape": "sphere", "center": [4, 3], "radius": 1}
    for wrong, path in (
        ({"name": name}, r"\$\.name"),
        ({"bodies": [body | {"name": name}]}, r"\$\.bodies\[0\]\.name"),
        ({"bodies": [{"shape": "mask", "file": name}]}, r"\$\.bodies\[0\]\.file"),
        ({"output": {"folder": name}}, r"\$\.output\.folder"),
        ({"run": CASE["run"] | {"layout": name}}, r"\$\.run\.layout"),
    ):
        with pytest.raises(lbm.CaseError, match=f"{path}: .* must have no control characters") as caught:
            case_file.parse_case(json.dumps(CASE | wrong))
        assert name not in str(caught.value)


def test_names_in_other_scripts_are_fine() -> None:
    domain = lbm.Domain((8, 6), "D2Q9")
    domain.add_body(cube((8, 6)), "Körper 體 №1 — «тело»")
    assert list(domain.bodies) == ["Körper 體 №1 — «тело»"]


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", " =a"])
def test_headers_are_no_formulas(tmp_path: Path, name: str) -> None:
    domain = cavity((8, 6), "D2Q9")
    domain.add_body(cube((8, 6)), name, thermal=lbm.Isothermal(1))
    domain.thermal["-x"] = lbm.Isothermal(1)
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu", threads=1, thermal=lbm.HybridThermal(0.1))
    for table, columns in (("forces", [f"'{name} Fx", f"'{name} Fy"]), ("heat", ["heat", "-x flux", f"'{name} flux"])):
        path = tmp_path / f"{table}.csv"
        tables.start(path, tables.TABLES[table].columns(solver))
        with path.open(newline="", encoding="utf-8") as file:
            assert next(csv.reader(file)) == ["step", *columns]


@pytest.mark.parametrize("content", [b"\xff\xfe\0\0", b"step,a\n1,2\0\n", b"\n" * 0 + b'"', b"\0" * 10])
def test_a_table_that_is_none_is_refused_at_a_restart(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "forces.csv"
    path.write_bytes(content)
    try:
        tables.cut(path, 10, 1)
    except lbm.CheckpointError as error:
        assert str(path) in str(error)  # noqa: PT017 - the readers of some versions of Python take NUL
        assert path.read_bytes() == content


def test_the_log_is_one_line_a_message(tmp_path: Path) -> None:
    handler = LogFile(tmp_path / "run.log", append=False)
    handler.handle(logging.makeLogRecord({"msg": "wrote %s", "args": ("a\x1b[2J\n2026 ERROR \ud800",)}))
    handler.close()
    text = (tmp_path / "run.log").read_text()
    assert text.endswith("wrote a\\x1b[2J\\n2026 ERROR \\ud800\n")
    assert text.count("\n") == 1
    assert PlainFormatter("%(message)s").format(logging.makeLogRecord({"msg": "Körper"})) == "Körper"


def test_paths_that_no_file_has_are_named(tmp_path: Path) -> None:
    solver = lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), device="cpu", threads=1)
    for method in (solver.save, solver.restore, solver.write_vtk, lbm.Layout.load, lbm.Solver.load):
        with pytest.raises(ValueError, match=r"path: .* given, must be a path"):
            method("a\0b")


def test_an_image_behind_a_link_may_end_otherwise(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("old")
    (tmp_path / "fields.vti").symlink_to(tmp_path / "data")
    lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), device="cpu", threads=1).write_vtk(tmp_path / "fields.vti")
    assert (tmp_path / "data").read_bytes().startswith(b"<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "fields.vti"]


def test_keys_that_are_there_twice_are_refused_in_layouts(tmp_path: Path) -> None:
    (tmp_path / "layout.json").write_text('{"blocks": [], "blocks": []}')
    with pytest.raises(ValueError, match="the key 'blocks' appears twice"):
        lbm.Layout.load(tmp_path / "layout.json")


@pytest.mark.parametrize(
    ("shape", "stencil", "reference"),
    [
        ([1, 16], "D2Q9", "ghia_1982_re100"),
        ([16, 1], "D2Q9", "ghia_1982_re100"),
        ([16, 16, 1], "D3Q19", "albensoeder_kuhlmann_2005_re1000"),
        ([16, 16], "D2Q9", "albensoeder_kuhlmann_2005_re1000"),
    ],
)
def test_centrelines_without_cells_are_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shape: list[int], stencil: str, reference: str
) -> None:
    output = {"centrelines": {"reference": reference, "velocity": 0.1}}
    case = CASE | {"domain": {"shape": shape, "stencil": stencil}, "output": output}
    (tmp_path / "case.json").write_text(json.dumps(case))
    assert cli.main(["run", str(tmp_path / "case.json"), "--output", str(tmp_path / "out")]) == cli.WRONG_INPUT
    assert f"$.output.centrelines.reference: '{reference}' given, which" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_a_gpu_auto_says_so_in_one_calm_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing() -> int:
        library = "libcuda.so.1"
        raise lbm.CudaError(
            f"no CUDA driver: {library} cannot be loaded ({library}: cannot open shared object file: No such file or "
            "directory); install the driver of an NVIDIA GPU, or use device 'cpu'"
        )

    monkeypatch.setattr("lbmgpu._core.cuda_device_count", missing)
    from lbmgpu.parallel import devices

    devices._best.cache_clear()
    with caplog.at_level(logging.INFO, "lbmgpu"):
        assert devices.resolve("auto") == "cpu"
        assert devices.resolve("auto") == "cpu"
    devices._best.cache_clear()
    assert [record.getMessage() for record in caplog.records] == ["device 'auto' is the CPU: no NVIDIA driver found"]
