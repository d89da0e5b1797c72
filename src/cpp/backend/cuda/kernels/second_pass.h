// Serves, after all copies, the wall cells with formulas that read what has streamed in: a thread for each.
#pragma once

#include "../../wall_links.h"
#include "dependent_launch.h"
#include "factors_of_step.h"
#include "state_access.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, bool scaled, int members = 1>
__global__ void second_pass(const __grid_constant__ Members<members, BoundaryArguments> all) {
    const auto& [a, links, scaling] = all.own();
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
    const auto serve = [&](const auto& values) {
        backend::serve_wall_links<true>(state.lattice(), cell, links.links, links.places, force,
                                        {static_cast<Real*>(links.end_sums)}, values);
    };
    if constexpr (scaled) {
        set_row_of_update_after(scaling);
        serve(scaled_values<S>(scaling));
    } else {
        serve(backend::SteadyValues{});
    }
}

}  // namespace lbm::cuda
