// Kernels for bodies that move: threads have cells of a box about the body, or links that its surface cuts.
// Which cells and links these are depends on the poses alone: mark_body and find_body_cuts may run beside the update
// before the one that they are for. There they take few thread blocks, as those of the update wait for the room of
// each: a thread block has several parts of the cells in turn.
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
    const AroundBody<S, Real, Stored> around(a);
    const Index count = a.bodies.own.marks_of(S::D);
    const auto parts = unsigned((count + SharedLinks::cells - 1) / SharedLinks::cells);
    for (unsigned part = blockIdx.x; part < parts; part += gridDim.x) {
        const auto index = [&](int cell) LBM_INLINE_LAMBDA { return spread_index(cell, part, parts); };
        const int searches = count_shared_links(shared, [&](int cell) {
            const Index k = index(cell);
            if (k >= count) {
                return 0U;
            }
            const auto mark = around.cells().known_mark(k);
            known[cell] = static_cast<unsigned char>(mark.found);
            open[cell] = static_cast<unsigned char>(mark.open);
            return mark.open;
        });
        for_shared_links(shared, searches, [&](int cell, int i, int) {
            is_set[2 * cell + i] = around.cells().is_in_body(index(cell), 1U << i);
        });
        __syncthreads();
        for (int k = 0; k < cells_of_thread; ++k) {
            const int cell = cells_of_thread * int(threadIdx.x) + k;
            if (index(cell) < count) {
                unsigned found = known[cell];
                for (int i = 0; i < 2; ++i) {
                    found |= (open[cell] >> i & 1U) != 0 && is_set[2 * cell + i] ? 1U << i : 0U;
                }
                around.cells().set_mark(index(cell), found);
            }
        }
    }
}

/// Finds where the body cuts links, once all bodies are marked.
template <class S, class Real, class Stored, int members = 1>
__global__ void __launch_bounds__(shared_links_threads, 2)
    find_body_cuts(const __grid_constant__ Members<members, MovingBodyArguments> all) {
    __shared__ SharedLinks shared;
    __shared__ UInt32 first;
    const MovingBodyArguments& a = all.own();
    const BodyCuts& cuts = a.cuts;
    let_next_kernel_begin();
    wait_for_kernel_before();
    const AroundBody<S, Real, Stored> around(a);
    for (unsigned part = blockIdx.x; part < cuts.parts; part += gridDim.x) {
        const auto index = [&](int cell) LBM_INLINE_LAMBDA { return spread_index(cell, part, cuts.parts); };
        const int count = count_shared_links(shared, [&](int cell) { return around.walls(index(cell)); });
        if (threadIdx.x == 0) {
            first = count > 0 ? atomicAdd(cuts.found, UInt32(count)) : 0U;
            cuts.first[part] = first;
            cuts.count[part] = count;
        }
        __syncthreads();
        if (first + UInt32(count) <= cuts.room) {
            for_shared_links(shared, count, [&](int cell, int i, int link) {
                cuts.all[first + UInt32(link)] = {around.cells().cut(around.cells().cell(index(cell)), i), cell, i};
            });
        }
    }
}

/// Sets the populations that come in off the body.
template <class S, class Real, class Stored, int members = 1>
__global__ void __launch_bounds__(shared_links_threads, 2)
    apply_body_walls(const __grid_constant__ Members<members, MovingBodyArguments> all) {
    __shared__ SharedLinks shared;
    const MovingBodyArguments& a = all.own();
    const BodyCuts& cuts = a.cuts;
    let_next_kernel_begin();
    wait_for_kernel_before();
    set_row_of_update_after(a.scaling);
    if (blockIdx.x >= cuts.parts) {
        return;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *cuts.found = 0;  // of the next step
    }
    const AroundBody<S, Real, Stored> around(a);
    const auto cell_of = [&](int cell) LBM_INLINE_LAMBDA {
        return around.cells().cell(spread_index(cell, blockIdx.x, cuts.parts));
    };
    const UInt32 first = cuts.first[blockIdx.x];
    const int count = cuts.count[blockIdx.x];
    if (first + UInt32(count) <= cuts.room) {
        for (int link = int(threadIdx.x); link < count; link += shared_links_threads) {
            const BodyCut own = cuts.all[first + UInt32(link)];
            around.cells().set_incoming(cell_of(own.cell), own.i, own.q);
        }
        return;
    }
    count_shared_links(shared, [&](int cell) { return around.walls(spread_index(cell, blockIdx.x, cuts.parts)); });
    for_shared_links(shared, count, [&](int cell, int i, int) {
        const backend::MovingCell own = cell_of(cell);
        around.cells().set_incoming(own, i, around.cells().cut(own, i));
    });
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
        const auto index = [&](int cell)
                               LBM_INLINE_LAMBDA { return first + spread_index(cell, blockIdx.x, gridDim.x); };
        const int count = count_shared_links(shared, [&](int cell) { return around.walls(index(cell)); });
        for_shared_links(shared, count, [&](int cell, int i, int) {
            around.cells().add_force(around.cells().cell(index(cell)), i, center, moves != 0, sum);
        });
    }
    double sums[6] = {sum.force[0], sum.force[1], sum.force[2], sum.torque[0], sum.torque[1], sum.torque[2]};
    sum_block(sums, partial + 6 * Index(blockIdx.x));
}

}  // namespace lbm::cuda
