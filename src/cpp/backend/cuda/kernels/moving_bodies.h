// Kernels for bodies that move, with a thread for each cell of a box about the body.
#pragma once

#include "dependent_launch.h"
#include "factors_of_step.h"
#include "moving_arguments.h"
#include "reductions.h"
#include "state_access.h"

namespace lbm::cuda {

/// Sets the populations that come in off a body, or with `fills` those of cells that it covers or has just left.
template <class S, class Real, class Stored, bool fills, int members = 1>
__global__ void change_around_body(const __grid_constant__ Members<members, MovingBodyArguments> all) {
    const auto& [a, body, place, scaling] = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k >= Index(body.size[0]) * body.size[1] * body.size[2]) {
        return;
    }
    wait_for_kernel_before();
    set_row_of_update_after(scaling);
    const StateAccess<S, Real, Stored> state{a};
    const backend::LatticeView<S, Real, Stored> lattice = state.lattice();
    const backend::MovingCells<S, Real, Stored> cells(lattice, body, place, factors_of_step(scaling));
    const backend::MovingCell cell = cells.cell(k);
    if (!cell.is_in_block) {
        return;
    }
    if constexpr (fills) {
        cells.fill(cell);
    } else {
        const Index row = Index(cell.local[2]) * a.address.ny + cell.local[1];
        if (!state.solid(row * a.address.nx + cell.local[0])) {
            cells.apply_walls(cell);
        }
    }
}

/// Sums three components of the force on a body, then three of the torque.
template <class S, class Real, class Stored>
__global__ void moving_body_force(const __grid_constant__ MovingBodyArguments a, double center_x, double center_y,
                                  double center_z, int moves, double* partial) {
    const StateAccess<S, Real, Stored> state{a.state};
    const double center[3] = {center_x, center_y, center_z};
    const backend::LatticeView<S, Real, Stored> lattice = state.lattice();
    const backend::MovingCells<S, Real, Stored> cells(lattice, a.body, a.place, factors_of_step(a.scaling));
    backend::ForceAndTorque sum{};
    const Index count = Index(a.body.size[0]) * a.body.size[1] * a.body.size[2];
    const Index stride = Index(gridDim.x) * blockDim.x;
    for (Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
        const backend::MovingCell cell = cells.cell(k);
        const Index row = Index(cell.local[2]) * a.state.address.ny + cell.local[1];
        if (cell.is_in_block && !state.solid(row * a.state.address.nx + cell.local[0])) {
            cells.add_force(cell, center, moves != 0, sum);
        }
    }
    double sums[6] = {sum.force[0], sum.force[1], sum.force[2], sum.torque[0], sum.torque[1], sum.torque[2]};
    sum_block(sums, partial + 6 * Index(blockIdx.x));
}

}  // namespace lbm::cuda
