// Kernels for bodies that move: a thread for each cell of a box about the body, or for each link that its surface cuts.
#pragma once

#include "dependent_launch.h"
#include "factors_of_step.h"
#include "moving_arguments.h"
#include "reductions.h"
#include "shared_links.h"
#include "state_access.h"

namespace lbm::cuda {

static_assert(shared_links_threads == reduction_threads);

/// The cells about a body in the next update, once the kernel before has ended.
template <class S, class Real, class Stored>
class AroundBody {
public:
    __device__ explicit AroundBody(const MovingBodyArguments& a)
        : state_{a.state}, cells_(state_.lattice(), a.bodies, a.place, factors_of_step(a.scaling)) {}

    __device__ const backend::MovingCells<S, Real, Stored>& cells() const { return cells_; }

    /// The links that the body cuts of the cell of an index in its box; none of one that is in a body at rest.
    __device__ unsigned walls(Index k) const {
        const unsigned found = k < cells_.count() ? cells_.walls(k) : 0U;
        if (found == 0) {
            return 0;
        }
        const backend::MovingCell cell = cells_.cell(k);
        const Address& address = state_.a.address;
        const Index row = Index(cell.local[2]) * address.ny + cell.local[1];
        return state_.solid(row * address.nx + cell.local[0]) ? 0U : found;
    }

private:
    StateAccess<S, Real, Stored> state_;
    backend::MovingCells<S, Real, Stored> cells_;
};

/// Finds which cells of the box and of its rim are in the body: first all those that take no search, then the others,
/// which are few and divided evenly among threads.
template <class S, class Real, class Stored, int members = 1>
__global__ void mark_body(const __grid_constant__ Members<members, MovingBodyArguments> all) {
    __shared__ SharedLinks shared;
    __shared__ unsigned char known[SharedLinks::cells], open[SharedLinks::cells];  // see KnownMark
    __shared__ bool is_set[2 * SharedLinks::cells];                                // open bits, once searched
    const MovingBodyArguments& a = all.own();
    let_next_kernel_begin();
    wait_for_kernel_before();
    set_row_of_update_after(a.scaling);
    const AroundBody<S, Real, Stored> around(a);
    const Index count = a.bodies.own.marks_of(S::D);
    for_shared_links(
        shared,
        [&](int cell) {
            const Index k = spread_index(cell);
            if (k >= count) {
                return 0U;
            }
            const auto mark = around.cells().known_mark(k);
            known[cell] = static_cast<unsigned char>(mark.found);
            open[cell] = static_cast<unsigned char>(mark.open);
            return mark.open;
        },
        [&](int cell, int i) { is_set[2 * cell + i] = around.cells().is_in_body(spread_index(cell), 1U << i); });
    __syncthreads();
    for (int k = 0; k < cells_of_thread; ++k) {
        const int cell = cells_of_thread * int(threadIdx.x) + k;
        const Index index = spread_index(cell);
        if (index < count) {
            unsigned found = known[cell];
            for (int i = 0; i < 2; ++i) {
                found |= (open[cell] >> i & 1U) != 0 && is_set[2 * cell + i] ? 1U << i : 0U;
            }
            around.cells().set_mark(index, found);
        }
    }
}

/// Sets the populations that come in off the body.
template <class S, class Real, class Stored, int members = 1>
__global__ void __launch_bounds__(shared_links_threads, 2)
    apply_body_walls(const __grid_constant__ Members<members, MovingBodyArguments> all) {
    __shared__ SharedLinks shared;
    const MovingBodyArguments& a = all.own();
    let_next_kernel_begin();
    wait_for_kernel_before();
    set_row_of_update_after(a.scaling);
    const AroundBody<S, Real, Stored> around(a);
    for_shared_links(
        shared, [&](int cell) { return around.walls(spread_index(cell)); },
        [&](int cell, int i) { around.cells().set_incoming(around.cells().cell(spread_index(cell)), i); });
}

/// Sets the populations of the cells that the body covers or has just left.
template <class S, class Real, class Stored, int members = 1>
__global__ void __launch_bounds__(256, 4) fill_body(const __grid_constant__ Members<members, MovingBodyArguments> all) {
    const MovingBodyArguments& a = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k < a.bodies.own.cells()) {
        wait_for_kernel_before();
        set_row_of_update_after(a.scaling);
        const AroundBody<S, Real, Stored> around(a);
        around.cells().fill(k);
    }
}

/// Sums three components of the force on a body, then three of the torque. The bodies must have been marked.
template <class S, class Real, class Stored>
__global__ void moving_body_force(const __grid_constant__ MovingBodyArguments a, double center_x, double center_y,
                                  double center_z, int moves, double* partial) {
    __shared__ SharedLinks shared;
    const AroundBody<S, Real, Stored> around(a);
    const double center[3] = {center_x, center_y, center_z};
    backend::ForceAndTorque sum{};
    const Index stride = Index(gridDim.x) * SharedLinks::cells;
    for (Index first = 0; first < around.cells().count(); first += stride) {
        for_shared_links(
            shared, [&](int cell) { return around.walls(first + spread_index(cell)); },
            [&](int cell, int i) {
                around.cells().add_force(around.cells().cell(first + spread_index(cell)), i, center, moves != 0, sum);
            });
    }
    double sums[6] = {sum.force[0], sum.force[1], sum.force[2], sum.torque[0], sum.torque[1], sum.torque[2]};
    sum_block(sums, partial + 6 * Index(blockIdx.x));
}

}  // namespace lbm::cuda
