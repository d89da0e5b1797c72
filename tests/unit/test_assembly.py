"""Tests of the machine code of the update kernels: packed arithmetic, no gathers, no memory taken while updating."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest
from reference.registry import KINDS, NUMBERS

ROOT = Path(__file__).resolve().parents[2]
CMAKE = (ROOT / "CMakeLists.txt").read_text()
KERNELS = ROOT / "src" / "cpp" / "backend" / "cpu" / "update_kernels.cpp"
REGISTER = {"avx2": "%ymm", "avx512": "%zmm"}
# Sums only: the products that scale float16 fill half a register where the arithmetic is float64.
PACKED = re.compile(r"\tv(?:add|sub)p[sd]\t(.*)")
SCALAR = re.compile(r"\tv(?:add|sub|mul|div)s[sd]\t")
STENCIL = "D3Q19"
pytestmark = [
    pytest.mark.slow,  # the kernels are compiled anew
    pytest.mark.skipif(platform.machine() != "x86_64", reason="these are instructions of x86-64"),
]


def options(isa: str) -> list[str]:
    """The options that CMakeLists.txt compiles the kernels of an instruction set with."""
    arithmetic = re.search(r"set\(arithmetic ([^)]*)\)", CMAKE)
    common = re.search(r"target_compile_options\(lbm_options INTERFACE\s+([^)$]*?)\$\{arithmetic\}\)", CMAKE)
    own = re.search(rf"set\({isa}_flags (\w+) (\d+) ([^)]*)\)", CMAKE)
    assert arithmetic, "the options of arithmetic have another form in CMakeLists.txt"
    assert common, "the common options have another form in CMakeLists.txt"
    assert own, f"the options of {isa} have another form in CMakeLists.txt"
    definitions = [f"-DLBM_ISA={own[1]}", f"-DLBM_STENCIL={STENCIL}", f"-DLBM_VECTOR_BYTES={own[2]}"]
    return ["-std=c++20", "-O3", "-fPIC", *common[1].split(), *arithmetic[1].split(), *own[3].split(), *definitions]


@pytest.fixture(scope="module", params=["avx2", "avx512"])
def kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """An instruction set, and the assembly of its kernels by mangled name."""
    isa = request.param
    target = tmp_path_factory.mktemp("assembly") / f"{isa}.s"
    command = [os.environ.get("CXX", "g++"), *options(isa), "-S", str(KERNELS), "-o", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    clone = r"(?:\.(?:isra|constprop)\.\d+)*"  # of which GCC has changed the parameters
    name = rf"(_Z\w*update_(?:rows|any_pack)\w*){clone}"
    kernel = re.compile(rf"^{name}:\n(.*?)^\t\.size", re.MULTILINE | re.DOTALL)
    parts = kernel.findall(target.read_text())
    return isa, dict(parts)


def test_every_collision_and_number_has_a_kernel(kernels: tuple[str, dict[str, str]]) -> None:
    assert sum("update_rows" in name for name in kernels[1]) == len(KINDS[STENCIL]) * len(NUMBERS)
    assert sum("update_any_pack" in name for name in kernels[1]) == len(KINDS[STENCIL]) * len(NUMBERS)


def test_kernels_gather_nothing(kernels: tuple[str, dict[str, str]]) -> None:
    for name, text in kernels[1].items():
        assert not re.search(r"\tv?p?(?:gather|scatter)", text), name


def test_kernels_take_no_memory(kernels: tuple[str, dict[str, str]]) -> None:
    for name, text in kernels[1].items():
        called = set(re.findall(r"\t(?:call|jmp)\t\*?(_Z\w+|[a-z]\w+)(?:@PLT)?", text))
        assert not [callee for callee in called if re.search(r"_Zn[wa]|alloc", callee)], (name, called)


def test_kernels_compute_in_whole_registers(kernels: tuple[str, dict[str, str]]) -> None:
    isa, functions = kernels
    for name, text in functions.items():
        packed = PACKED.findall(text)
        whole = [operands for operands in packed if REGISTER[isa] in operands]
        scalar = SCALAR.findall(text)
        assert len(whole) >= 130, (name, len(whole))
        assert len(whole) >= 0.99 * len(packed), (name, len(whole), len(packed))
        # What scalar arithmetic there is converts numbers at the ends of rows.
        assert len(scalar) <= 0.1 * len(whole), (name, len(scalar), len(whole))
