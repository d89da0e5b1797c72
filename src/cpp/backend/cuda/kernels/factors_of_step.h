// The factors of the next update, as the kernels before it read them.
#pragma once

#include "../../scaled_values.h"
#include "factor_clock.h"

namespace lbm::cuda {

/// The factors of the next update. Kernels call it once they have waited for the kernel before.
__device__ inline const double* factors_of_step(const ScalingArguments& a) {
    return a.factors + row_of_update(*a.clock, a.turn) * a.series;
}

/// The scaled values of the next update.
template <class S>
__device__ backend::ScaledValues<S> scaled_values(const ScalingArguments& a) {
    return {a.values, factors_of_step(a), a.reference_density, a.inertia};
}

}  // namespace lbm::cuda
