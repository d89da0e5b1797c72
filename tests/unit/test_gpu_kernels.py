"""The kernels for GPUs: each compiles for each architecture, without a GPU, and keeps its numbers in registers."""

from __future__ import annotations

import re

import pytest
from reference.registry import MODELS, NUMBERS, PAIRS, THERMAL_PAIRS

from lbmgpu import _core
from lbmgpu.parallel.devices import look_for_compiler

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]
CASES = [(s, c, *n, t) for s, c in PAIRS for n in NUMBERS for t in (0, 1)]


@pytest.mark.parametrize(("stencil", "collision", "precision", "storage", "turn"), CASES)
def test_update_kernels_stay_in_registers(
    stencil: str, collision: str, precision: str, storage: str, turn: int
) -> None:
    """Over the cases the streamings, forces, eddy viscosities, faces, kept sums, sizes and architectures take turns."""
    number = CASES.index((stencil, collision, precision, storage, turn))
    check_registers(number, stencil, collision, precision, storage, turn, thermal=False)


def check_registers(
    number: int,
    stencil: str,
    collision: str,
    precision: str,
    storage: str,
    turn: int,
    *,
    thermal: bool,
    takes_strain: bool = False,
    turbulence: str = "",
    row_ends: int = 0,
) -> None:
    """What the assembler says of the kernels of all phases of a case: nothing is kept outside registers."""
    look_for_compiler()
    architecture = ARCHITECTURES[number % 3]
    logs = _core.cuda_update_resources(
        stencil,
        collision,
        precision,
        storage,
        ("in-place", "two-lattice")[turn],
        smagorinsky=number % 4 == 3 and not turbulence,
        forcing=number // 2 % 5,
        end_sums=number // 6 % 2 == 1 and row_ends == 0,
        periodic_axes=number % 8 if row_ends == 0 else 6,
        size=(8, 126, 512)[number % 7 % 3],
        architecture=architecture,
        thermal=thermal,
        takes_strain=takes_strain,
        turbulence=turbulence,
        renews=takes_strain or bool(turbulence),
        row_ends=row_ends,
    )
    assert len(logs) == 2 - turn
    for log in logs:
        assert f"for '{architecture}" in log
        stack = re.search(r"(\d+) bytes stack frame", log)
        assert stack is not None
        assert int(stack[1]) == 0, log


@pytest.mark.slow
@pytest.mark.parametrize("end_sums", [False, True])
@pytest.mark.parametrize("collision", ["bgk", "mrt", "recursive-regularized", "cumulant"])
def test_rows_that_would_leave_threads_idle_have_launches_of_their_own(collision: str, end_sums: bool) -> None:
    """In D3Q27: of 588 cells, in thread blocks of 320 of which a multiprocessor runs one, and of 512 cells."""
    look_for_compiler()
    configuration = ("D3Q27", collision, "float32", "float32", "in-place", False, 0, end_sums, 0 if end_sums else 7)
    used = []
    for size in (512, 588):
        logs = _core.cuda_update_resources(*configuration, size, "sm_90")
        assert all(re.search(r"\b0 bytes stack frame", log) for log in logs), logs
        used.append([int(re.search(r"Used (\d+) registers", log)[1]) for log in logs])  # type: ignore[index]
    assert max(used[0]) > 128 >= max(used[1])  # those of 588 have registers for 512 threads


ROW_ENDS = [3 + 4 + 16 * (1 + 4 + 8), 1 + 4 + 16 * (3 + 4), 4 + 8, (1 + 4 + 8) * 17]
"""What there are columns of at the ends of rows (row_end_columns.h)."""
OPEN = [(s, *n, t) for s in dict.fromkeys(s for s, _ in PAIRS) for n in NUMBERS for t in (0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("stencil", "precision", "storage", "turn"), OPEN)
def test_updates_that_keep_columns_stay_in_registers(stencil: str, precision: str, storage: str, turn: int) -> None:
    number = OPEN.index((stencil, precision, storage, turn))
    collisions = [c for s, c in PAIRS if s == stencil]
    for k, ends in enumerate(ROW_ENDS):
        collision = collisions[(number + k) % len(collisions)]
        check_registers(number + k, stencil, collision, precision, storage, turn, thermal=False, row_ends=ends)


HYBRID = [(s, *n, k, t) for s in ("D2Q9", "D3Q19", "D3Q27") for n in NUMBERS for k in range(4) for t in (0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("stencil", "precision", "storage", "k", "turn"), HYBRID)
def test_updates_with_a_strain_rate_stay_in_registers(
    stencil: str, precision: str, storage: str, k: int, turn: int
) -> None:
    """Of the hybrid collision; every fourth with a temperature where the model has it."""
    number = HYBRID.index((stencil, precision, storage, k, turn))
    kind, heated = "recursive-regularized", MODELS["hybrid thermal"]
    thermal = k == 3 and stencil in heated["stencils"] and (precision, storage) in heated["numbers"]
    check_registers(number, stencil, kind, precision, storage, turn, thermal=thermal, takes_strain=True)


@pytest.mark.slow
@pytest.mark.parametrize(("stencil", "collision", "precision", "storage", "turn"), CASES)
def test_updates_that_compute_an_eddy_viscosity_of_gradients_stay_in_registers(
    stencil: str, collision: str, precision: str, storage: str, turn: int
) -> None:
    """The same with the models of velocity gradients, which take turns; some with a temperature."""
    number = CASES.index((stencil, collision, precision, storage, turn))
    heated = MODELS["hybrid thermal"]
    thermal = number % 3 == 2 and stencil in heated["stencils"] and (precision, storage) in heated["numbers"]
    model = ("wale", "vreman")[number // 2 % 2]
    check_registers(number, stencil, collision, precision, storage, turn, thermal=thermal, turbulence=model)


HEATED = [(s, c, *n, t) for s, c in THERMAL_PAIRS for n in MODELS["hybrid thermal"]["numbers"] for t in (0, 1)]


@pytest.mark.parametrize(("stencil", "collision", "precision", "storage", "turn"), HEATED)
def test_heated_update_kernels_stay_in_registers(
    stencil: str, collision: str, precision: str, storage: str, turn: int
) -> None:
    """Those of fluids with a temperature, which takes registers too."""
    number = HEATED.index((stencil, collision, precision, storage, turn))
    check_registers(number, stencil, collision, precision, storage, turn, thermal=True)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("collision", ["bgk", "trt", "mrt", "regularized", "recursive-regularized"])
def test_heated_updates_of_large_boxes_stay_in_registers(collision: str, streaming: str, architecture: str) -> None:
    """In float64, whose launches leave them few, with no force but the buoyancy and with a uniform one."""
    look_for_compiler()
    numbers = ("float64", "float64", streaming)
    logs = [
        log
        for forcing in (0, 1)
        for size in (512, 513)
        for log in _core.cuda_update_resources(
            "D3Q19", collision, *numbers, False, forcing, False, 0, size, architecture, thermal=True
        )
    ]
    for log in logs:
        found = re.search(r"(\d+) bytes stack frame", log)
        assert found is not None
        assert int(found[1]) == 0, log


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_multispeed_kernels_stay_in_registers(precision: str, architecture: str) -> None:
    """Where populations carry the energy: what updates use, with wrapped axes and a Prandtl number, and walls."""
    look_for_compiler()
    real = {"float32": "float", "float64": "double"}[precision]
    header, shape = "multispeed_update.h", {"float32": "128, 4", "float64": "128, 3"}[precision]
    of_fourth_order = {"float32": "128, 4", "float64": "128, 2"}[precision]
    own = "lbm::RelaxationTimes::"
    kernels = [f"multispeed_update<lbm::D2Q37, {real}, {wraps}, {own}HeatFlux, {shape}>" for wraps in range(4)]
    kernels += [f"multispeed_update<lbm::D2Q37, {real}, 3, {own}One, {shape}, 32>"]
    kernels += [
        f"multispeed_update<lbm::D2Q37, {real}, {wraps}, {own}ThirdAndFourth, {of_fourth_order}>" for wraps in range(4)
    ]
    logs = [_core.cuda_kernel_resources(header, "lbm::cuda::" + kernel, architecture) for kernel in kernels]
    # The cells at walls are few. In float64 the compiler leaves an array of theirs in memory: up to NVRTC 13.4
    # for sm_100, by 13.5 for all.
    most = 128 if precision == "float64" else 0
    for members in ("", ", 32"):
        log = _core.cuda_kernel_resources(
            header, f"lbm::cuda::fill_wall_columns<lbm::D2Q37, {real}{members}>", architecture
        )
        found = re.search(r"\b(\d+) bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", log)
        assert found is not None, log
        assert int(found[1]) <= most, log
    for periodic in (1, 2, 3):  # what blocks choose, at a Prandtl number of 1
        numbers = ("thermal-bgk", precision, precision, "two-lattice")
        logs += _core.cuda_update_resources("D2Q37", *numbers, False, 0, False, periodic, 512, architecture)
    for log in logs:
        assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", log), log
    numbers = f"lbm::D2Q37, {real}, {real}"
    others = {
        "fields.h": ("density<{}, float>", "velocity<{}, double>", "population<{}, float>", "initialize<{}>"),
        "reductions.h": ("totals<{}>", "velocity_change<{}>", "extremes<{}>"),
        "heat.h": ("temperature<{}, double>", "total_heat<{}>", "temperature_change<{}>"),
    }
    for header, names in others.items():
        for name in names:
            log = _core.cuda_kernel_resources(header, "lbm::cuda::" + name.format(numbers), architecture)
            assert f"for '{architecture}" in log


GRADIENT_TERMS = ("lbm::WALE, false", "lbm::Vreman, false", "lbm::WALE, true", "lbm::Vreman, true", "void, true")
"""The turbulence model, and whether there is a strain rate."""
COMPLETED = [f"lbm::cuda::CellsToComplete::{which}" for which in ("Any", "AnyAtRowEnds", "InColumns")]
"""Which boundary cells a kernel completes."""


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("header", "kernels"),
    [
        ("apply_boundaries.h", ["apply_boundaries<{}, false>", "apply_boundaries<{}, true>"]),
        ("apply_boundaries.h", ["apply_boundaries<{}, false, 32>", "apply_boundaries<{}, true, 32>"]),
        ("cut_links.h", ["cut_links<{}, false>", "cut_links<{}, true>"]),
        ("cut_links.h", ["cut_links<{}, false, 32>", "cut_links<{}, true, 32>"]),
        ("sheet_links.h", ["sheet_links<{}, false>", "sheet_links<{}, true>"]),
        ("sheet_links.h", ["sheet_links<{}, false, 32>", "sheet_links<{}, true, 32>"]),
        ("transfer.h", ["transfer<lbm::Half>"]),
        ("fields.h", ["density<{}, float>", "velocity<{}, double>", "population<{}, float>", "set_population<{}>"]),
        ("fields.h", ["set_force<{}>", "get_force<{}>", "get_stored<{}>", "set_stored<{}>", "initialize<{}>"]),
        ("gpu_arrays.h", [f"{kernel}<float>" for kernel in ("gather", "field_extremes", "sum_in_order")]),
        ("gpu_arrays.h", [f"{kernel}<double>" for kernel in ("gather", "field_extremes", "sum_in_order")]),
        ("boundary_cells.h", [f"complete_boundary_cells<{{}}, {which}>" for which in COMPLETED]),
        ("boundary_cells.h", ["start_boundary_cells<{}>"]),
        (
            "boundary_cells.h",
            ["change_cells<{}, lbm::backend::BoundaryCell>", "change_cells<{}, lbm::backend::SpongeCell>"],
        ),
        ("boundary_cells.h", ["get_boundary_numbers<{}>", "set_boundary_numbers<{}>"]),
        ("reductions.h", ["totals<{}>", "velocity_change<{}>", "extremes<{}>", "body_force<{}>"]),
        ("heat.h", ["advance_next_to_bodies<{}>", "put_next_to_bodies<{}>", "temperature<{}, double>"]),
        ("heat.h", ["set_temperature<{}>", "reset_temperature<{}>", "set_heat_source<{}>", "get_heat_source<{}>"]),
        ("heat.h", ["total_heat<{}>", "sampled_heat<{}>", "temperature_change<{}>"]),
        ("eddy_viscosity.h", [f"renew_all<{{}}, lbm::GradientTerms<{m}>, 32>" for m in GRADIENT_TERMS]),
        ("eddy_viscosity.h", [f"renew_next_to_walls<{{}}, lbm::GradientTerms<{m}>, 32>" for m in GRADIENT_TERMS]),
        ("eddy_viscosity.h", ["start_velocity<{}>", "kept_velocity<{}, double>", "set_kept_velocity<{}>"]),
        ("eddy_viscosity.h", ["eddy_viscosity<{}, float>", "set_eddy_viscosity<{}>"]),
        ("eddy_viscosity.h", ["smagorinsky_viscosity<{}, double>"]),
        ("copy_bandwidth.h", ["copy"]),
        ("mesh_lines.h", ["add_crossings", "fill_lines", "find_cuts"]),
        ("statistics.h", ["sample_cells<{}, 1U>", f"sample_cells<{{}}, {2**30 - 1}U>", "fill_numbers<double>"]),
        ("scale_numbers.h", ["scale_numbers<{}>", "scale_numbers<{}, 32>"]),
        ("statistics.h", [f"sum_statistics<{axes}>" for axes in range(1, 8)]),
        ("boundary_cells.h", [f"complete_boundary_cells<{{}}, {which}, 32>" for which in COMPLETED]),
        (
            "boundary_cells.h",
            ["change_cells<{}, lbm::backend::BoundaryCell, 32>", "change_cells<{}, lbm::backend::SpongeCell, 32>"],
        ),
        ("heat.h", ["advance_next_to_bodies<{}, 32>", "put_next_to_bodies<{}, 32>"]),
    ],
)
def test_the_other_kernels_compile(header: str, kernels: list[str], architecture: str) -> None:
    look_for_compiler()
    stored = "float" if header == "heat.h" else "lbm::Half"
    for kernel in kernels:
        name = "lbm::cuda::" + kernel.format(f"lbm::D3Q19, float, {stored}")
        assert f"for '{architecture}" in _core.cuda_kernel_resources(header, name, architecture)


@pytest.mark.slow
@pytest.mark.parametrize(
    "types", ["lbm::D2Q9, float, float", "lbm::D3Q19, float, lbm::Half", "lbm::D3Q27, float, float"]
)
def test_boundary_cells_in_columns_stay_in_registers(types: str) -> None:
    look_for_compiler()
    assert_in_registers(
        f"lbm::cuda::complete_boundary_cells<{types}, lbm::cuda::CellsToComplete::InColumns>", "boundary_cells.h"
    )


UPDATES_WITH_EDDY_VISCOSITY = [
    (f"{collision}, {real}, {stored}", f"{collision}::Parameters<{real}>>, {real}", changes, cells, phase, launch)
    for (real, stored, cells, launch) in (
        ("float", "float", 4, "128, 3"),
        ("double", "double", 2, "256, 1"),
        ("float", "lbm::Half", 8, "64, 4"),
    )
    for phase, collision in enumerate(("lbm::TRT", "lbm::BGK", "lbm::MRT"))
    for changes in ("true, true", "true, false", "false, true", "false, false")
]


@pytest.mark.parametrize(("types", "parameters", "changes", "cells", "phase", "launch"), UPDATES_WITH_EDDY_VISCOSITY)
def test_updates_with_an_eddy_viscosity_stay_in_registers(
    types: str, parameters: str, changes: str, cells: int, phase: int, launch: str
) -> None:
    """Of velocity gradients, in steps that keep the velocity, that compute the eddy viscosity, and in others."""
    look_for_compiler()
    assert_in_registers(
        f"lbm::cuda::update<lbm::D3Q19, {types}, lbm::cuda::WithGradientTerms<lbm::Laminar<{parameters}, "
        f"lbm::GradientTerms<lbm::WALE, false>, {changes}>, {cells}, 7, lbm::Phase({phase}), "
        f"lbm::cuda::Forcing::None, false, 0, false, lbm::cuda::RowSpan::ThreadBlock, true, 0, {launch}>"
    )


@pytest.mark.parametrize(
    ("types", "terms"),
    [
        ("lbm::D3Q19, lbm::Regularized", "lbm::Vreman, false"),
        ("lbm::D3Q19, lbm::CentralMoments", "lbm::Vreman, false"),
        ("lbm::D3Q19, lbm::RecursiveRegularized", "void, true"),
        ("lbm::D3Q19, lbm::RecursiveRegularized", "lbm::WALE, true"),
        ("lbm::D3Q27, lbm::Cumulant", "lbm::WALE, false"),
    ],
)
def test_updates_with_an_eddy_viscosity_compile(types: str, terms: str) -> None:
    """Of the other collisions, which know what a cell has of velocity gradients by the members of its parameters."""
    look_for_compiler()
    collision = types.split()[1]
    update = (
        f"lbm::cuda::update<{types}, float, float, lbm::cuda::WithGradientTerms<lbm::Laminar<"
        f"{collision}::Parameters<float>>, float, lbm::GradientTerms<{terms}>, true, true>, 2, 7, lbm::Phase(0), "
        f"lbm::cuda::Forcing::None, false, 0, false, lbm::cuda::RowSpan::ThreadBlock, true, 0, 128, 2>"
    )
    assert "for 'sm_90" in _core.cuda_kernel_resources("update.h", update, "sm_90")


def assert_in_registers(kernel: str, header: str = "update.h") -> None:
    log = _core.cuda_kernel_resources(header, kernel, "sm_90")
    stack = re.search(r"(\d+) bytes stack frame", log)
    assert stack is not None
    assert int(stack[1]) == 0, log


UPDATES_OF_MEMBERS = [
    (f"float, {stored}, {parameters}, {cells}, {periodic}, lbm::Phase({phase})", f"{spans}, true, 0, {launch}", thermal)
    for stored, cells in (("float", 2), ("lbm::Half", 4))
    for phase, launch in ((0, "128, 4"), (1, "128, 4"), (2, "64, 8"))
    for parameters, periodic, spans, thermal in (
        ("lbm::Laminar<lbm::BGK::Parameters<float>>", 7, "lbm::cuda::RowSpan::Warp", "false"),
        ("lbm::BGK::Parameters<float>", 0, "lbm::cuda::RowSpan::ThreadBlock", "false"),
        ("lbm::Laminar<lbm::BGK::Parameters<float>>", 0, "lbm::cuda::RowSpan::Warp", "true"),
    )
    if not (thermal == "true" and stored == "lbm::Half")
]


@pytest.mark.parametrize(("first", "last", "thermal"), UPDATES_OF_MEMBERS)
def test_updates_of_several_blocks_stay_in_registers(first: str, last: str, thermal: str) -> None:
    """The update of an ensemble, whose blocks are chosen by the thread block: the same kernels with a count."""
    look_for_compiler()
    name = (
        f"lbm::cuda::update<lbm::D3Q19, lbm::BGK, {first}, lbm::cuda::Forcing::None, false, 0, {thermal}, {last}, 32>"
    )
    log = _core.cuda_kernel_resources("update.h", name, "sm_90")
    stack = re.search(r"(\d+) bytes stack frame", log)
    assert stack is not None
    assert int(stack[1]) == 0, log


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("numbers", ["D3Q19, float, float", "D3Q19, float, lbm::Half", "D2Q37, double, double"])
def test_samples_of_statistics_stay_in_registers(numbers: str, architecture: str) -> None:
    """Of the mean and the covariances of the velocity, and of all that there is."""
    look_for_compiler()
    stresses = sum(1 << slot for slot in (1, 2, 3, 20, 21, 22, 24, 25, 27))
    for slots in (stresses, 2**30 - 1):
        name = f"lbm::cuda::sample_cells<lbm::{numbers}, {slots}U>"
        log = _core.cuda_kernel_resources("statistics.h", name, architecture)
        assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("kernel", ["add_crossings", "find_cuts"])
def test_lattice_lines_stay_in_registers(kernel: str, architecture: str) -> None:
    look_for_compiler()
    log = _core.cuda_kernel_resources("mesh_lines.h", f"lbm::cuda::{kernel}", architecture)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log


def test_an_error_shows_the_log_of_the_compiler() -> None:
    look_for_compiler()
    with pytest.raises(_core.CudaError, match="architecture sm_1"):
        _core.cuda_update_resources("D2Q9", "bgk", "float32", "float32", "in-place", False, 0, False, 7, 8, "sm_1")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("numbers", ["float, lbm::Half", "float, float", "double, double"])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27", "D2Q37"])
def test_samples_of_points_compile(stencil: str, numbers: str, architecture: str) -> None:
    if stencil == "D2Q37" and "Half" in numbers:
        numbers = "float, float"
    look_for_compiler()
    log = _core.cuda_kernel_resources(
        "point_samples.h", f"lbm::cuda::point_samples<lbm::{stencil}, {numbers}>", architecture
    )
    assert f"for '{architecture}" in log
