// The rows of factors that updates have in turn, on the device: see FactorClock.
#pragma once

#include "arguments.h"

namespace lbm::cuda {

/// The row of an update whose turn it is, or the last one that there is.
__device__ inline Index row_of_update(const FactorClock& clock, int turn) {
    const Index row = clock.row[turn], last = clock.rows - 1;
    return row < last ? row : last;
}

/// Sets the row of the update after the next one. Each kernel that reads factors does so, in its first thread, as it
/// may be the only one; whoever does so again sets the same. Those that run beside the update before must not: that
/// update may still read the row that would be set.
template <class Arguments>
__device__ void set_row_of_update_after(const Arguments& a) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        a.clock->row[1 - a.turn] = a.clock->row[a.turn] + 1;
    }
}

/// The same with the factor of the force, by updates.
__device__ inline void set_force_of_update_after(const ScaledForce& a) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        set_row_of_update_after(a);
        a.clock->force[1 - a.turn] =
            a.factors == nullptr ? a.clock->force[a.turn] : a.factors[row_of_update(*a.clock, 1 - a.turn) * a.series];
    }
}

}  // namespace lbm::cuda
