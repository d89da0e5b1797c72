"""Tests that the headers of one cell's physics compile alone: for GPUs where nvcc is, for this processor otherwise.

So do those of lattice lines through surfaces, which are compiled for both too."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MENU = ROOT / "tests" / "cpp" / "lattice_menu.cpp"
OF_SURFACES = [ROOT / "src" / "cpp" / "geometry" / name for name in ("crossings.h", "vec.h")]
HEADERS = [*sorted((ROOT / "src" / "cpp" / "lattice").rglob("*.h")), *OF_SURFACES]
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Werror"]
CXX = os.environ.get("CXX", "g++")


def compile_with(command: list[str]) -> None:
    """Run a compiler; what it prints is the failure."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_menu_of_kernels_compiles(tmp_path: Path) -> None:
    """Every stencil, collision and arithmetic, as scalar code.

    nvcc reads the headers as NVRTC will, which knows no standard header: the include path is empty but for the
    compiler's own.
    """
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        compile_with([CXX, *STRICT, "-nostdinc", "-O1", "-c", str(MENU), "-o", str(tmp_path / "menu.o")])
    else:
        language = ["-x", "cu", "-std=c++20", "--expt-relaxed-constexpr", "-Werror=all-warnings"]
        compile_with([nvcc, *language, "-cubin", "-arch=sm_80", str(MENU), "-o", str(tmp_path / "menu.cubin")])


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_header_stands_alone(header: Path) -> None:
    compile_with([CXX, *STRICT, "-nostdinc", "-fsyntax-only", "-x", "c++", "-include", str(header), "/dev/null"])
