// Serves, after all copies, the wall cells with formulas that read what has streamed in: a thread for each.
#pragma once

#include "../../wall_links.h"
#include "dependent_launch.h"
#include "state_access.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, int members = 1>
__global__ void second_pass(const __grid_constant__ Members<members, BoundaryArguments> all) {
    const auto& [a, links] = all.own();
    const Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (at >= links.cell_count) {
        return;
    }
    const backend::WallCell cell = links.cells[at];
    wait_for_kernel_before();
    const StateAccess<S, Real, Stored> state{a};
    double force[3] = {};
    if (cell.needs_moments) {
        state.force(cell.x, Index(cell.z) * a.address.ny + cell.y, force);
    }
    backend::serve_wall_links<true>(state.lattice(), cell, links.links, links.places, force,
                                    {static_cast<Real*>(links.end_sums)});
}

}  // namespace lbm::cuda
