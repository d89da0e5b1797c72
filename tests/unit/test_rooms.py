"""Tests of the rooms of the sources: what may include what, and what every file must be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CPP = ROOT / "src" / "cpp"
ARROWS = {
    "lattice": {"lattice"},
    "process": {"process"},
    "comm": {"comm", "process"},
    "backend": {"backend", "lattice", "process"},
    "engine": {"engine", "backend", "comm", "lattice", "process"},
    "bindings": {"bindings", "engine", "backend", "lattice", "process"},
}
"""The rooms whose headers each room may include."""

LINES = 500
COMMENT = {".h": "// ", ".cpp": "// ", ".cu": "// ", ".py": '"""', ".pyi": '"""', ".txt": "# "}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def sources(folder: Path, *suffixes: str) -> list[Path]:
    """The files below a folder with these suffixes."""
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def includes(path: Path) -> tuple[list[str], list[str]]:
    """The names that a file includes in quotes, and in angle brackets."""
    found = INCLUDE.findall(path.read_text())
    return [quoted for quoted, _ in found if quoted], [angled for _, angled in found if angled]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


CPP_SOURCES = sources(CPP, ".h", ".cpp", ".cu")
WRITTEN = [
    path
    for folder in ("src", "tests")
    for path in sources(ROOT / folder, *COMMENT)
    if path.suffix != ".txt" or path.name == "CMakeLists.txt"
]


def test_every_room_is_known() -> None:
    assert {path.relative_to(CPP).parts[0] for path in CPP_SOURCES} == set(ARROWS)


@pytest.mark.parametrize("path", CPP_SOURCES, ids=name)
def test_includes_follow_the_arrows(path: Path) -> None:
    room = path.relative_to(CPP).parts[0]
    for included in includes(path)[0]:
        target = (path.parent / included).resolve()
        assert target.is_relative_to(CPP), f"{name(path)} includes {included}, which lies outside src/cpp"
        assert target.is_file(), f"{name(path)} includes {included}, which is not there"
        other = target.relative_to(CPP).parts[0]
        assert other in ARROWS[room], f"{name(path)} includes {included}: {room} must not know {other}"


@pytest.mark.parametrize("path", sources(CPP / "lattice", ".h", ".cpp"), ids=name)
def test_lattice_is_headers_without_the_standard_library(path: Path) -> None:
    assert path.suffix == ".h"
    assert includes(path)[1] == []


@pytest.mark.parametrize("path", sources(CPP / "engine", ".h", ".cpp"), ids=name)
def test_engine_includes_no_cuda(path: Path) -> None:
    quoted, angled = includes(path)
    assert [header for header in quoted + angled if re.search("cuda|nvrtc|curand|cooperative", header)] == []


@pytest.mark.parametrize("path", WRITTEN, ids=name)
def test_files_say_their_purpose_first(path: Path) -> None:
    lines = path.read_text().splitlines()
    if path.name == "__init__.py" and not any(line.strip() for line in lines):
        return
    assert lines
    assert lines[0].startswith(COMMENT[path.suffix]), f"{name(path)} begins with {lines[0]!r}, not with its purpose"
    assert len(lines[0]) > len(COMMENT[path.suffix]) + 10


@pytest.mark.parametrize("path", WRITTEN, ids=name)
def test_files_are_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LINES


@pytest.mark.parametrize("path", sources(CPP, ".h"), ids=name)
def test_headers_guard_themselves(path: Path) -> None:
    assert re.search(r"^#pragma once$", path.read_text(), re.MULTILINE)
