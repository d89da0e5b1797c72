"""The kernels of cells that keep moments compile without a GPU, those without walls for each architecture, and what
they keep outside registers is bounded."""

from __future__ import annotations

import re

import pytest

from lbmgpu import _core
from lbmgpu.parallel.devices import look_for_compiler

TILES = {
    "sm_80": {
        ("D3Q19", "Regularized"): ((11, 0), (11, 12), (11, 20)),
        ("D3Q19", "RecursiveRegularized"): ((11, 0), (11, 16), (11, 24)),
        ("D3Q27", "Regularized"): ((11, 3), (9, 12), (8, 24)),
        ("D3Q27", "RecursiveRegularized"): ((9, 16), (8, 20), (7, 0)),
    },
    "sm_86": {
        ("D3Q19", "Regularized"): ((11, 0), (8, 12), (7, 0)),
        ("D3Q19", "RecursiveRegularized"): ((11, 0), (7, 0), (7, 0)),
        ("D3Q27", "Regularized"): ((5, 0), (5, 0), (5, 0)),
        ("D3Q27", "RecursiveRegularized"): ((5, 0), (5, 0), (5, 0)),
    },
    "sm_90": {
        ("D3Q19", "Regularized"): ((11, 0), (11, 12), (11, 20)),
        ("D3Q19", "RecursiveRegularized"): ((11, 0), (11, 16), (11, 24)),
        ("D3Q27", "Regularized"): ((11, 2), (11, 12), (10, 24)),
        ("D3Q27", "RecursiveRegularized"): ((11, 16), (10, 20), (9, 28)),
    },
    "sm_100": {
        ("D3Q19", "Regularized"): ((11, 4), (11, 16), (11, 24)),
        ("D3Q19", "RecursiveRegularized"): ((11, 12), (11, 28), (11, 36)),
        ("D3Q27", "Regularized"): ((11, 8), (11, 16), (9, 28)),
        ("D3Q27", "RecursiveRegularized"): ((10, 24), (9, 32), (8, 40)),
    },
    "sm_120": {
        ("D3Q19", "Regularized"): ((10, 4), (7, 0), (7, 0)),
        ("D3Q19", "RecursiveRegularized"): ((7, 0), (7, 0), (7, 0)),
        ("D3Q27", "Regularized"): ((5, 0), (5, 0), (5, 0)),
        ("D3Q27", "RecursiveRegularized"): ((5, 0), (5, 0), (5, 0)),
    },
}
TILES["sm_89"] = TILES["sm_86"]
"""Rows of the tiles of a large block without walls in float32, and how many sums of a thread's cells lie in shared
memory: without a force, with a uniform one, and with a field, for 163, 99 and 227 KiB of it
(moment_launches_choose_tiles in the C++ tests)."""
FORCINGS = ("None", "Uniform", "Field")
PAIRS = list(TILES["sm_90"])
WALLED = {
    "sm_80": {"D3Q19": ((10, 18), (10, 18), (10, 28)), "D3Q27": ((9, 18), (7, 18), (8, 30))},
    "sm_86": {"D3Q19": ((7, 18), (5, 18), (5, 28)), "D3Q27": ((4, 18), (3, 18), (3, 30))},
    "sm_90": {"D3Q19": ((10, 18), (10, 18), (10, 28)), "D3Q27": ((10, 18), (10, 18), (10, 30))},
}
WALLED["sm_89"] = WALLED["sm_120"] = WALLED["sm_86"]
WALLED["sm_100"] = WALLED["sm_90"]
"""The same of tiles with walls of a block without a force: half-way ones, at known distances, and half-way ones whose
values change in time (moment_launches_choose_tiles_at_walls)."""
ROWS_AT_Y_FACES = 3
"""Of tiles at faces across y, of which a multiprocessor has two where there is room for them."""
STRIP_SUMS = 96
"""In two dimensions, of strips with walls."""


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
    sums: int = 0,
    plane: bool = False,
    images: bool = False,
    cuts: bool = False,
    scaled: bool = False,
    real: str = "float",
    laminar: bool = True,
) -> str:
    """The name of an update's kernel; `shape` is its cells a thread, steps, rows and pitch."""
    parameters = f"lbm::{collision}::Parameters<{real}>"
    types = f"lbm::{stencil}, lbm::{collision}, {real}, {f'lbm::Laminar<{parameters}>' if laminar else parameters}"
    of_walls = f"{walls}, {images}, {scaled}, {cuts}, {walls}".lower()
    flags = f"lbm::cuda::Forcing::{forcing}, {of_walls}, {sums}"
    return f"{'update_moments_2d' if plane else 'update_moments'}<{types}, {flags}, {shape}>"


def walled_update(
    stencil: str, collision: str, forcing: str, architecture: str, *, at_y_face: bool = False, **kinds: bool
) -> tuple[str, str]:
    """The name and the header of an update's kernel at walls; `kinds` are images, cuts, and scaled."""
    if stencil == "D2Q9":
        name = update(stencil, collision, forcing, True, "2, 6, 3, 0", sums=STRIP_SUMS, plane=True, **kinds)
        return name, "moment_update_2d.h"
    which = 2 if kinds.get("scaled") else 1 if kinds.get("cuts") else 0
    rows, sums = WALLED[architecture][stencil][which]
    rows = ROWS_AT_Y_FACES if at_y_face else rows
    return update(stencil, collision, forcing, True, f"1, 2, {rows}, 544", sums=sums, **kinds), "moment_update.h"


@pytest.mark.parametrize("architecture", TILES)
@pytest.mark.parametrize("forcing", FORCINGS)
@pytest.mark.parametrize(("stencil", "collision"), PAIRS)
def test_updates_without_walls_stay_in_registers(stencil: str, collision: str, forcing: str, architecture: str) -> None:
    rows, sums = TILES[architecture][stencil, collision][FORCINGS.index(forcing)]
    kernel = update(stencil, collision, forcing, False, f"2, 2, {rows}, 544", sums=sums)
    assert stack_of(kernel, "moment_update.h", architecture) == 0


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("laminar", [True, False])
@pytest.mark.parametrize("collision", ["Regularized", "RecursiveRegularized"])
def test_updates_of_planes_stay_in_registers(collision: str, laminar: bool, architecture: str) -> None:
    sums = 0 if laminar else 24
    kernel = update("D2Q9", collision, "None", False, "2, 6, 3, 4096", sums=sums, plane=True, laminar=laminar)
    assert stack_of(kernel, "moment_update_2d.h", architecture) == 0


@pytest.mark.parametrize(
    ("stencil", "collision", "rows", "sums", "architecture"),
    [
        ("D3Q19", "Regularized", 10, 0, "sm_90"),
        ("D3Q19", "Regularized", 10, 2, "sm_100"),
        ("D3Q19", "RecursiveRegularized", 10, 12, "sm_90"),
        ("D3Q27", "Regularized", 9, 6, "sm_90"),
        ("D3Q27", "RecursiveRegularized", 6, 12, "sm_90"),
    ],
)
def test_updates_in_double_precision_stay_in_registers(
    stencil: str, collision: str, rows: int, sums: int, architecture: str
) -> None:
    kernel = update(stencil, collision, "None", False, f"1, 2, {rows}, 544", sums=sums, real="double")
    assert stack_of(kernel, "moment_update.h", architecture) == 0


@pytest.mark.parametrize("forcing", FORCINGS)
@pytest.mark.parametrize(("stencil", "collision"), PAIRS)
def test_updates_with_an_eddy_viscosity_stay_in_registers(stencil: str, collision: str, forcing: str) -> None:
    rows, sums = TILES["sm_90"][stencil, collision][FORCINGS.index("Field")]
    kernel = update(stencil, collision, forcing, False, f"2, 2, {rows}, 544", sums=sums, laminar=False)
    assert stack_of(kernel, "moment_update.h", "sm_90") == 0


def check_walls(stencil: str, collision: str, architecture: str) -> None:
    """Of what a thread keeps at walls nearly all has room in its registers. The stack, which is not counted here, has
    the populations of a cell that a formula reads."""
    for cuts in (False, True):
        kernel, header = walled_update(stencil, collision, "None", architecture, cuts=cuts)
        assert bytes_of("spill stores", kernel, header, architecture) <= 16


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_with_walls_stay_in_registers(stencil: str) -> None:
    check_walls(stencil, "Regularized", "sm_90")


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_with_values_that_change_in_time_stay_in_registers(stencil: str) -> None:
    kernel, header = walled_update(stencil, "Regularized", "None", "sm_90", scaled=True)
    assert bytes_of("spill stores", kernel, header, "sm_90") <= 16


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("stencil", ["D3Q19", "D3Q27"])
def test_updates_at_faces_across_y_stay_in_registers(stencil: str, architecture: str) -> None:
    for kinds in ({}, {"scaled": True}, {"cuts": True}):
        kernel, header = walled_update(stencil, "Regularized", "None", architecture, at_y_face=True, **kinds)
        assert bytes_of("spill stores", kernel, header, architecture) <= 16


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_90", "sm_100"])
@pytest.mark.parametrize("cuts", [False, True])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_behind_free_slip_stay_in_registers(stencil: str, cuts: bool, architecture: str) -> None:
    """But for a few bytes of D3Q27 where walls at known distances have values that change in time."""
    for scaled in (False, True):
        kernel, header = walled_update(
            stencil, "Regularized", "None", architecture, images=True, cuts=cuts, scaled=scaled
        )
        most = 40 if stencil == "D3Q27" and cuts and scaled else 16
        assert bytes_of("spill stores", kernel, header, architecture) <= most


@pytest.mark.slow
@pytest.mark.parametrize("architecture", TILES)
@pytest.mark.parametrize("collision", ["Regularized", "RecursiveRegularized"])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_with_walls_stay_in_registers_everywhere(stencil: str, collision: str, architecture: str) -> None:
    check_walls(stencil, collision, architecture)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("collision", ["Regularized", "RecursiveRegularized"])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_updates_with_walls_and_forces_stay_in_registers(stencil: str, collision: str, architecture: str) -> None:
    """At half-way walls, and at known distances, whose formulas have the populations of a cell on the stack."""
    most_of_cuts = 896 if (stencil, architecture) == ("D3Q27", "sm_100") else 640
    for forcing in ("Uniform", "Field"):
        for cuts in (False, True):
            kernel, header = walled_update(stencil, collision, forcing, architecture, cuts=cuts)
            assert bytes_of("spill stores", kernel, header, architecture) <= 16
            assert stack_of(kernel, header, architecture) <= (most_of_cuts if cuts else 512)
