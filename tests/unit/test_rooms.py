"""Tests the structure of the sources: which folder may include or import which, and what every file must be.

A file says its purpose first and is short enough to read; a header guards itself.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CPP = ROOT / "src" / "cpp"
PACKAGE = ROOT / "src" / "lbmgpu"
ARROWS = {
    "lattice": {"lattice"},
    "process": {"process"},
    "comm": {"comm", "process"},
    "backend": {"backend", "geometry", "lattice", "process"},
    "engine": {"engine", "backend", "comm", "lattice", "process"},
    "geometry": {"geometry", "lattice"},
    "bindings": {"bindings", "geometry", "engine", "backend", "lattice", "process"},
}
"""The rooms whose headers each room may include."""

BACKEND_ARROWS = {
    "": {"", "custom"},
    "custom": {"custom"},
    "run_time_compilation": {"run_time_compilation"},
    "cpu": {"cpu", "custom", "run_time_compilation", ""},
    "cuda": {"cuda", "custom", "run_time_compilation", ""},
}
"""The same of the folders within the backend: neither kind of device knows the other. "" has the files in none."""

SURFACE_FOLLOWERS = ("surface_lines.h", "mesh_lines.h", "mesh_lines.cpp", "mesh_arguments.h", "devices.cpp")
"""The files of the backend that may know surfaces of triangles: a GPU follows lattice lines through them."""

BACKEND_CHOICES = ("devices.cpp", "link_bandwidth.cpp")
"""The files of the backend that choose a device, and so know both kinds."""

_COLLISIONS = ("collisions", "cpp_text", "custom_collision", "collision_table", "multispeed")
_VALUES = ("conditions", "values", "body", "domain", *_COLLISIONS, "models", "thermal", "turbulence", "units")
TOP = {
    **dict.fromkeys(("checks", "errors", "deprecated", "guarded"), "basics"),
    **dict.fromkeys((*_VALUES, "layout"), "values"),
    **dict.fromkeys(("plot",), "pictures"),
    **dict.fromkeys(("__init__", "__main__", "cli"), "front"),
}
"""The rooms of the modules at the top of the package; those below it are in the room of their folder."""

_BELOW_SOLVER = {"basics", "files", "time_functions", "geometry", "values", "parallel", "engine"}
PYTHON_ARROWS = {
    "basics": {"basics"},
    "files": {"files", "basics"},
    "time_functions": {"time_functions", "basics"},
    "geometry": {"geometry", "basics", "files"},
    "values": {"values", "basics", "files", "time_functions", "geometry"},
    "parallel": {"parallel", "basics", "values", "time_functions"},
    "engine": {"engine", "basics", "time_functions", "geometry", "values", "parallel"},
    "planning": {"planning", "basics", "values", "parallel", "engine"},
    "advice": {"advice", *_BELOW_SOLVER},
    "io": {"io", *_BELOW_SOLVER},
    "solver": {"solver", "io", "planning", *_BELOW_SOLVER},
    "output": {"output", "solver", "io", *_BELOW_SOLVER},
    "flows": {"flows", "solver", "io", *_BELOW_SOLVER},
    "pictures": {"pictures", "output", "solver", "values", "basics", "files"},
    "benchmarks": {"benchmarks", "solver", "planning", *_BELOW_SOLVER},
    "tunnel": {"tunnel", "output", "solver", "io", *_BELOW_SOLVER},
    "case": {"case", "tunnel", "flows", "output", "pictures", "solver", "planning", *_BELOW_SOLVER},
    "study": {"study", "case", "solver", *_BELOW_SOLVER},
    "front": {
        "front",
        "flows",
        "advice",
        "study",
        "tunnel",
        "case",
        "benchmarks",
        "output",
        "pictures",
        "solver",
        "planning",
        *_BELOW_SOLVER,
    },
}
"""The rooms of the package whose modules each room may import, from a function too."""

MOST_AT_TOP = 22
_OF_STUDIES = ("xarray", "cloudpickle", "h5netcdf", "pandas")
_LIBRARIES = ("matplotlib", "h5py", "jsonschema", "mpi4py", "pyevtk", "pyvista", "scipy", "tqdm", "trimesh", "zarr")
LOADED_WHEN_USED = (*_LIBRARIES, *_OF_STUDIES)

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


@pytest.mark.parametrize("path", sources(CPP / "backend", ".h", ".cpp"), ids=name)
def test_devices_of_one_kind_do_not_know_the_other(path: Path) -> None:
    backend = CPP / "backend"
    folder, *_ = (*path.relative_to(backend).parts[:-1], "")
    for included in includes(path)[0]:
        target = (path.parent / included).resolve()
        if target.is_relative_to(backend) and path.name not in BACKEND_CHOICES:
            other, *_ = (*target.relative_to(backend).parts[:-1], "")
            assert other in BACKEND_ARROWS[folder], f"{name(path)} includes {included}: {folder} must not know {other}"


@pytest.mark.parametrize("path", sources(CPP / "backend", ".h", ".cpp"), ids=name)
def test_few_files_of_the_backend_know_surfaces(path: Path) -> None:
    found = [included for included in includes(path)[0] if "geometry/" in included]
    assert found == [] or path.name in SURFACE_FOLLOWERS


@pytest.mark.parametrize("path", sources(CPP / "geometry", ".h", ".cpp"), ids=name)
def test_geometry_takes_of_lattice_what_compilers_of_gpus_need(path: Path) -> None:
    found = [included for included in includes(path)[0] if "lattice/" in included]
    assert {Path(included).name for included in found} <= {"portability.h", "arithmetic.h"}


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


MODULES = {
    str(path.relative_to(PACKAGE).with_suffix("")): ast.parse(path.read_text()) for path in sources(PACKAGE, ".py")
}
"""The syntax of each module of the package, by its path below the package without the suffix."""


def python_room(module: str) -> str:
    folder, _, stem = module.rpartition("/")
    return folder or TOP[stem]


def imported(module: str, *, when_typed: bool) -> set[str]:
    """The modules of the package that one imports, anywhere in it; those for type checkers alone if `when_typed`."""

    def statements(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test) and not when_typed:
                continue
            yield child
            yield from statements(child)

    found = set()
    for node in statements(MODULES[module]):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ["lbmgpu", *module.split("/")][: -node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, *parts = name.split(".")
            if package == "lbmgpu" and parts[:1] != ["_core"]:
                found.add(_module_of(parts))
    return found - {module}


def _module_of(parts: list[str]) -> str:
    """The module that a name below the package is, or is in."""
    for end in range(len(parts), -1, -1):
        for path in ("/".join(parts[:end]), "/".join([*parts[:end], "__init__"])):
            if path in MODULES:
                return path
    raise AssertionError(parts)


def cycle(arrows: Mapping[str, set[str]]) -> list[str]:
    """What is in cycles: all that is left when those that nothing left is reached from are taken away."""
    left = {one: set(others) - {one} for one, others in arrows.items()}
    while leaves := [one for one, others in left.items() if not others & left.keys()]:
        for one in leaves:
            del left[one]
    return sorted(left)


def test_every_python_room_is_known_and_the_top_is_small() -> None:
    assert {python_room(module) for module in MODULES} == set(PYTHON_ARROWS)
    assert len([module for module in MODULES if "/" not in module]) <= MOST_AT_TOP
    assert cycle(PYTHON_ARROWS) == []


@pytest.mark.parametrize("module", MODULES)
def test_imports_follow_the_arrows(module: str) -> None:
    room = python_room(module)
    for other in imported(module, when_typed=True):
        assert python_room(other) in PYTHON_ARROWS[room], f"{module} imports {other}: {room} must not know its room"


def test_no_imports_go_round() -> None:
    assert cycle({module: imported(module, when_typed=False) for module in MODULES}) == []
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]


@pytest.mark.parametrize("module", MODULES)
def test_private_names_are_used_where_they_are_defined(module: str) -> None:
    """In their module alone."""
    nodes = list(ast.walk(MODULES[module]))
    known = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    known |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    private = [node for node in nodes if isinstance(node, ast.Attribute) and re.match("_(?!.*__$)", node.attr)]
    own = [node for node in private if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")]
    known |= {node.attr for node in own} | {"_getframe"}
    assert [ast.unparse(node) for node in private if node.attr not in known] == []


def test_what_takes_long_to_be_imported_is_imported_when_it_is_used() -> None:
    code = (
        f"import sys, lbmgpu; print([name for name in {LOADED_WHEN_USED} if name in sys.modules]); "
        "print(lbmgpu.plot.speed_figure.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "speed_figure"]
