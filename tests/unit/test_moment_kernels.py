"""The kernels of cells that keep moments compile without a GPU, those without walls for each architecture, and what
they keep outside registers is bounded."""

from __future__ import annotations

import re

import pytest

from lbmgpu import _core
from lbmgpu.parallel.devices import look_for_compiler

STACK = {
    ("D3Q19", "Regularized"): (8, 40),
    ("D3Q19", "RecursiveRegularized"): (32, 48),
    ("D3Q27", "Regularized"): (32, 56),
    ("D3Q27", "RecursiveRegularized"): (96, 144),
}
"""Bytes of stack of a thread, at most: without a force, and with a uniform one. A thread block needs 128 registers a
thread, which the assembler has to make do with."""
ROWS = {
    "D3Q19": {"sm_80": 11, "sm_86": 8, "sm_89": 8, "sm_90": 11, "sm_100": 11, "sm_120": 8},
    "D3Q27": {"sm_80": 8, "sm_86": 2, "sm_89": 2, "sm_90": 11, "sm_100": 11, "sm_120": 2},
}
"""Of a tile, for which the architecture has shared memory: 163, 99 and 227 KiB a thread block."""
WALLED_ROWS = {
    "D3Q19": {"sm_80": 10, "sm_86": 5, "sm_89": 5, "sm_90": 10, "sm_100": 10, "sm_120": 5},
    "D3Q27": {"sm_80": 8, "sm_86": 2, "sm_89": 2, "sm_90": 10, "sm_100": 10, "sm_120": 2},
}
"""The same of tiles with walls, whose threads keep sums of their cells there."""


def bytes_of(what: str, kernel: str, header: str, architecture: str) -> int:
    """`what` is "stack frame" or "spill stores", of the kernel itself."""
    look_for_compiler()
    log = _core.cuda_kernel_resources(header, "lbm::cuda::" + kernel, architecture)
    assert f"for '{architecture}" in log
    found = re.search(rf"\b(\d+) bytes {what}", log)
    assert found is not None, log
    return int(found[1])


def stack_of(kernel: str, header: str, architecture: str) -> int:
    return bytes_of("stack frame", kernel, header, architecture)


def update(
    stencil: str,
    collision: str,
    forcing: str,
    walls: bool,
    shape: str,
    *,
    plane: bool = False,
    cuts: bool = False,
    scaled: bool = False,
) -> str:
    """The name of an update's kernel; `shape` is its cells a thread, steps, rows and pitch."""
    types = f"lbm::{stencil}, lbm::{collision}, float, lbm::Laminar<lbm::{collision}::Parameters<float>>"
    kept = f"lbm::cuda::InShared::{'SumsToo' if walls else 'Nothing'}"
    of_walls = f"{walls}, false, {scaled}, {cuts}".lower()
    flags = f"lbm::cuda::Forcing::{forcing}, {of_walls}, {kept}"
    return f"{'update_moments_2d' if plane else 'update_moments'}<{types}, {flags}, {shape}>"


@pytest.mark.parametrize("architecture", ROWS["D3Q19"])
@pytest.mark.parametrize("forcing", ["None", "Uniform"])
@pytest.mark.parametrize(("stencil", "collision"), STACK)
def test_updates_without_walls_stay_in_registers(stencil: str, collision: str, forcing: str, architecture: str) -> None:
    """But for what `STACK` says; of D3Q19 without a force all of it, where 11 rows fit a multiprocessor."""
    kernel = update(stencil, collision, forcing, False, f"2, 2, {ROWS[stencil][architecture]}, 544")
    found = stack_of(kernel, "moment_update.h", architecture)
    assert found <= STACK[stencil, collision][forcing == "Uniform"]
    if stencil == "D3Q19" and forcing == "None" and architecture in ("sm_80", "sm_90"):
        assert found == 0


def check_walls(stencil: str, collision: str, architecture: str) -> None:
    """Of what a thread keeps at walls nearly all has room in its registers. The stack, which is not counted here, has
    the populations of a cell that a formula reads."""
    shape = "2, 6, 3, 0" if stencil == "D2Q9" else f"1, 2, {WALLED_ROWS[stencil][architecture]}, 544"
    plane = stencil == "D2Q9"
    for cuts in (False, True):
        kernel = update(stencil, collision, "None", True, shape, plane=plane, cuts=cuts)
        header = "moment_update_2d.h" if plane else "moment_update.h"
        is_newer = architecture in ("sm_100", "sm_120")  # for which the assembler spills more
        most = 96 if plane and cuts and is_newer else 24 if is_newer else 16
        assert bytes_of("spill stores", kernel, header, architecture) <= most


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_with_walls_stay_in_registers(stencil: str) -> None:
    check_walls(stencil, "Regularized", "sm_90")


@pytest.mark.slow
@pytest.mark.parametrize(("stencil", "most"), [("D3Q19", 136), ("D3Q27", 432)])
def test_values_of_walls_that_change_in_time_take_few_registers(stencil: str, most: int) -> None:
    kernel = update(stencil, "Regularized", "None", True, "1, 2, 10, 544", scaled=True)
    assert bytes_of("spill stores", kernel, "moment_update.h", "sm_90") <= most


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ROWS["D3Q19"])
@pytest.mark.parametrize("collision", ["Regularized", "RecursiveRegularized"])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_with_walls_stay_in_registers_everywhere(stencil: str, collision: str, architecture: str) -> None:
    check_walls(stencil, collision, architecture)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("collision", ["Regularized", "RecursiveRegularized"])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_with_walls_and_fields_compile(stencil: str, collision: str, architecture: str) -> None:
    """Half-way ones, and those at known distances, whose formulas have the populations of a cell on the stack."""
    plane = stencil == "D2Q9"
    most_of_cuts = 896 if (stencil, architecture) == ("D3Q27", "sm_100") else 640
    header, shape = ("moment_update_2d.h", "2, 6, 3, 0") if plane else ("moment_update.h", "1, 2, 10, 0")
    for forcing in ("None", "Field"):
        for cuts in (False, True):
            kernel = update(stencil, collision, forcing, True, shape, plane=plane, cuts=cuts)
            assert stack_of(kernel, header, architecture) <= (most_of_cuts if cuts else 512)
