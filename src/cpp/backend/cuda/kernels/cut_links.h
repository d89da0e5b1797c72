// Serves, after all copies, the links that bodies at known distances cut: a thread for each link, in the order of
// memory.
#pragma once

#include "../../wall_links.h"
#include "dependent_launch.h"
#include "factors_of_step.h"
#include "state_access.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, bool scaled, int members = 1>
__global__ void cut_links(const __grid_constant__ Members<members, CutLinkArguments> all) {
    const CutLinkArguments& a = all.own();
    const Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (at >= a.count) {
        return;
    }
    const backend::CutPlaces places = a.places[at];
    auto* data = static_cast<Stored*>(a.data);
    if constexpr (scaled) {
        const backend::CutLink link = a.links[at];
        wait_for_kernel_before();
        set_row_of_update_after(a.scaling);
        backend::serve_cut_link(data, backend::wall_now<Real>(link, scaled_values<S>(a.scaling)), places);
    } else {
        const boundary::LinearWall<Real> wall = static_cast<const boundary::LinearWall<Real>*>(a.walls)[at];
        wait_for_kernel_before();
        backend::serve_cut_link(data, wall, places);
    }
}

}  // namespace lbm::cuda
