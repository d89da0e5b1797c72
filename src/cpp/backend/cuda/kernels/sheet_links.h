// Serves, when nothing reads post-collision populations any more, the walls between two fluid cells: a thread for each,
// in the order of memory.
#pragma once

#include "../../wall_links.h"
#include "dependent_launch.h"
#include "factors_of_step.h"
#include "state_access.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, bool scaled, int members = 1>
__global__ void sheet_links(const __grid_constant__ Members<members, SheetLinkArguments> all) {
    const SheetLinkArguments& a = all.own();
    const Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (at >= a.count) {
        return;
    }
    const backend::SheetPlaces places = a.places[at];
    auto* data = static_cast<Stored*>(a.data);
    if constexpr (scaled) {
        const backend::SheetLink link = a.links[at];
        wait_for_kernel_before();
        set_row_of_update_after(a.scaling);
        const auto values = scaled_values<S>(a.scaling);
        backend::serve_sheet_link<Real>(
            data, {backend::wall_now<Real>(link.side[0], values), backend::wall_now<Real>(link.side[1], values)},
            places);
    } else {
        const auto* walls = static_cast<const boundary::LinearWall<Real>*>(a.walls) + 2 * at;
        const boundary::LinearWall<Real> both[2] = {walls[0], walls[1]};
        wait_for_kernel_before();
        backend::serve_sheet_link(data, both, places);
    }
}

}  // namespace lbm::cuda
