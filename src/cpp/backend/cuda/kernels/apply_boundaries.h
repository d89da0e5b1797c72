// Applies boundaries and halos between two updates: a warp for each copy run, then a thread for each single copy, for
// each wall cell and for each temperature behind a wall. Where no value of a wall link changes in time the kernel does
// not know of it, as it would take more registers.
#pragma once

#include "../../wall_heat.h"
#include "copy_run.h"
#include "dependent_launch.h"
#include "factors_of_step.h"
#include "state_access.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, bool scaled, int members = 1>
__global__ void apply_boundaries(const __grid_constant__ Members<members, BoundaryArguments> all) {
    const auto& [a, links, scaling] = all.own();
    const Index thread = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if constexpr (scaled) {
        if (thread == 0) {
            wait_for_kernel_before();
            set_row_of_update_after(scaling);
        }
    }
    const Index run = thread / 32;
    if (run < links.run_count) {
        const backend::CopyRun r = links.runs[run];
        wait_for_kernel_before();
        auto* data = static_cast<Stored*>(a.data);
        copy_run(r, data, data, int(thread & 31));
        return;
    }
    const Index single = thread - 32 * links.run_count;
    if (single < links.single_count) {
        const SingleCopy copy = links.singles[single];
        wait_for_kernel_before();
        auto* data = static_cast<Stored*>(a.data);
        data[copy.target] = data[copy.source];
        return;
    }
    const Index at = single - links.single_count;
    if (at >= links.cell_count) {
        const Index k = at - links.cell_count;
        if (k < links.wall_temperature_count) {
            const backend::WallTemperature wall = links.wall_temperatures[k];
            wait_for_kernel_before();
            backend::fill_wall_temperature(
                backend::TemperatureView<Real, Stored>(static_cast<Stored*>(a.data), a.address, a.phase), wall);
        }
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
        backend::serve_wall_links(state.lattice(), cell, links.links, links.places, force,
                                  {static_cast<Real*>(links.end_sums)}, values);
    };
    if constexpr (scaled) {
        serve(scaled_values<S>(scaling));
    } else {
        serve(backend::SteadyValues{});
    }
}

}  // namespace lbm::cuda
