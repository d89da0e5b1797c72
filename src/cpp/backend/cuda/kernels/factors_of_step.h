// The factors of the next update, as the kernels before it read them.
#pragma once

#include "../../scaled_values.h"
#include "arguments.h"

namespace lbm::cuda {

/// The factors of the next update. Kernels call it once they have waited for the kernel before.
__device__ inline const double* factors_of_step(const ScalingArguments& a) {
    const Index row = a.clock->row[a.turn], last = a.clock->rows - 1;
    return a.factors + (row < last ? row : last) * a.series;
}

/// The scaled values of the next update.
template <class S>
__device__ backend::ScaledValues<S> scaled_values(const ScalingArguments& a) {
    return {a.values, factors_of_step(a), a.reference_density, a.inertia};
}

/// Sets the row of the update after the next one. Each kernel that reads factors does so, in its first thread, as it
/// may be the only one; whoever does so again sets the same.
__device__ inline void set_row_of_update_after(const ScalingArguments& a) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        a.clock->row[1 - a.turn] = a.clock->row[a.turn] + 1;
    }
}

}  // namespace lbm::cuda
