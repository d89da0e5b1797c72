// Kernels for boundary cells, with a thread for each cell: the populations that enter through their faces, and the
// numbers that they keep.
#pragma once

#include "../../boundary_cells.h"
#include "dependent_launch.h"
#include "state_access.h"

namespace lbm::cuda {

/// Returns the force on a cell, as BoundaryCellView requires.
template <class S, class Real, class Stored>
struct ForceOnCell {
    const StateAccess<S, Real, Stored>& state;

    __device__ void operator()(int x, int y, int z, double (&force)[3]) const {
        state.force(x, Index(z) * state.a.address.ny + y, force);
    }
};

/// Computes the incoming populations of boundary cells for the next step, and stores their numbers after that step in
/// the lattice `next`.
template <class S, class Real, class Stored, int members = 1>
__global__ void complete_boundary_cells(const __grid_constant__ Members<members, BoundaryCellArguments> all) {
    const auto& [a, cells, count, next] = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k >= count) {
        return;
    }
    const backend::BoundaryCell cell = cells[k];
    wait_for_kernel_before();
    const StateAccess<S, Real, Stored> state{a};
    const backend::BoundaryNumbers<Real, Stored> numbers(static_cast<Stored*>(next), a.address, next_phase(a.phase));
    backend::complete_boundary_cell(state.lattice(), cell, numbers, ForceOnCell<S, Real, Stored>{state});
}

/// Changes the incoming populations of boundary cells whose conditions replace them, or of cells of sponges.
template <class S, class Real, class Stored, class Cell, int members = 1>
__global__ void change_cells(const __grid_constant__ Members<members, CellChangeArguments<Cell>> all) {
    const auto& [a, cells, count, layers] = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k >= count) {
        return;
    }
    const Cell cell = cells[k];
    wait_for_kernel_before();
    backend::change_cell(StateAccess<S, Real, Stored>{a}.lattice(), cell, layers);
}

/// Initialises the numbers of boundary cells from a state that was set.
template <class S, class Real, class Stored>
__global__ void start_boundary_cells(const __grid_constant__ StateArguments a, const backend::BoundaryCell* cells,
                                     Index count) {
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k < count) {
        const StateAccess<S, Real, Stored> state{a};
        backend::start_boundary_cell(state.lattice(), cells[k], ForceOnCell<S, Real, Stored>{state});
    }
}

/// Calls visit(numbers, offset in the slot, index among the numbers of all cells) for each number of the thread's cell.
template <class S, class Real, class Stored, class Visit>
__device__ void for_numbers_of_cell(const StateArguments& a, const backend::BoundaryCell* cells, Index count,
                                    Visit&& visit) {
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k < count) {
        const backend::BoundaryNumbers<Real, Stored> numbers(static_cast<Stored*>(a.data), a.address, a.phase);
        for (int n = 0; n < cells[k].stored; ++n) {
            visit(numbers, cells[k].numbers + n, cells[k].first + n);
        }
    }
}

template <class S, class Real, class Stored>
__global__ void get_boundary_numbers(const __grid_constant__ StateArguments a, const backend::BoundaryCell* cells,
                                     Index count, double* out) {
    for_numbers_of_cell<S, Real, Stored>(
        a, cells, count, [&](const auto& numbers, Index place, Index at) { out[at] = double(numbers.get(place)); });
}

template <class S, class Real, class Stored>
__global__ void set_boundary_numbers(const __grid_constant__ StateArguments a, const backend::BoundaryCell* cells,
                                     Index count, const double* values) {
    for_numbers_of_cell<S, Real, Stored>(
        a, cells, count, [&](const auto& numbers, Index place, Index at) { numbers.put(place, Real(values[at])); });
}

}  // namespace lbm::cuda
