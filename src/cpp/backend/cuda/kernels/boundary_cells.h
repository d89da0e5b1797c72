// Kernels for boundary cells, with a thread for each cell: the populations that enter through their faces, and the
// numbers that they keep.
#pragma once

#include "dependent_launch.h"
#include "factors_of_step.h"
#include "flat_block.h"
#include "plain_cells.h"
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

/// The cells of a thread block in its shared memory. They are loaded as whole memory lines: were each thread to load
/// its own, a number of each cell would come from a line of its own.
template <class Cell>
class CellsOfBlock {
public:
    __device__ void load(const Cell* cells, Index count) {
        const Index first = Index(blockIdx.x) * blockDim.x;
        const Index words = min(Index(blockDim.x), count - first) * words_of_cell;
        const auto* source = reinterpret_cast<const UInt64*>(cells + first);
        for (Index w = threadIdx.x; w < words; w += blockDim.x) {
            words_[w / words_of_cell][w % words_of_cell] = source[w];
        }
        __syncthreads();
    }
    __device__ Cell& own() { return *reinterpret_cast<Cell*>(words_[threadIdx.x]); }

private:
    static constexpr int words_of_cell = int(sizeof(Cell) / sizeof(UInt64));
    static_assert(sizeof(Cell) % sizeof(UInt64) == 0);

    UInt64 words_[flat_block][words_of_cell + 1];  // one more, so that threads access different banks
};

/// Which boundary cells a kernel completes.
enum class CellsToComplete {
    Any,           // of a block without columns
    AnyAtRowEnds,  // of one with columns, into which their replaced populations go
    InColumns      // those that find all they read in columns
};

/// Computes the incoming populations of boundary cells for the next step, and stores their numbers after that step in
/// the lattice `next`. The formulas for cells in columns have a kernel of their own, as most cells are of these: there
/// the face is known, so that they take a third of the registers and no local memory.
template <class S, class Real, class Stored, CellsToComplete which, int members = 1>
__global__ void __launch_bounds__(flat_block,
                                  which == CellsToComplete::InColumns && sizeof(Real) == sizeof(float) ? 3 : 1)
    complete_boundary_cells(const __grid_constant__ Members<members, BoundaryCellArguments> all) {
    const auto& [a, cells, count, next, columns, row_ends, scaling] = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    __shared__ CellsOfBlock<backend::BoundaryCell> shared;
    shared.load(cells, count);
    if (k >= count) {
        return;
    }
    wait_for_kernel_before();
    if (scaling.values != nullptr) {
        set_row_of_update_after(scaling);
        scaled_values<S>(scaling).set(shared.own());
    }
    const StateAccess<S, Real, Stored> state{a};
    const ForceOnCell<S, Real, Stored> force{state};
    const backend::BoundaryNumbers<Real, Stored> numbers(static_cast<Stored*>(next), a.address, next_phase(a.phase));
    if constexpr (which == CellsToComplete::Any) {
        backend::complete_boundary_cell(state.lattice(), shared.own(), numbers, force);
    } else {
        const backend::RowEndColumns<S, Real, Stored> at_row_ends(columns, a.address);
        if constexpr (which == CellsToComplete::InColumns) {
            complete_plain_cell(state.lattice(), shared.own(), numbers, force, at_row_ends, row_ends);
        } else {
            backend::complete_boundary_cell(state.lattice(), shared.own(), numbers, force, at_row_ends, row_ends);
        }
    }
}

/// Changes the incoming populations of boundary cells whose conditions replace them, or of cells of sponges.
template <class S, class Real, class Stored, class Cell, int members = 1>
__global__ void change_cells(const __grid_constant__ Members<members, CellChangeArguments<Cell>> all) {
    const auto& [a, cells, count, layers, row_ends, scaling] = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k >= count) {
        return;
    }
    Cell cell = cells[k];
    wait_for_kernel_before();
    if constexpr (IsSame<Cell, backend::BoundaryCell>::value) {
        if (backend::is_replaced_in_update(cell, row_ends)) {
            return;
        }
        if (scaling.values != nullptr) {
            scaled_values<S>(scaling).set(cell);
        }
    }
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
