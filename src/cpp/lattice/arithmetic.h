// Arithmetic helpers that are written once for scalars (GPU: one cell at a time in a thread) and for SIMD packs (CPU:
// several cells at a time).
#pragma once

#include "portability.h"

namespace lbm {

/// The scalar type inside an arithmetic type: float for float, float for a pack of floats.
template <class V>
struct ScalarOf {
    using type = typename V::Scalar;
};
template <>
struct ScalarOf<float> {
    using type = float;
};
template <>
struct ScalarOf<double> {
    using type = double;
};
template <class V>
using Scalar = typename ScalarOf<V>::type;

LBM_HD float square_root(float x) {
#if defined(__CUDA_ARCH__)
    return __fsqrt_rn(x);
#else
    return __builtin_sqrtf(x);
#endif
}

LBM_HD double square_root(double x) {
#if defined(__CUDA_ARCH__)
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
}

LBM_HD float magnitude(float x) { return x < 0 ? -x : x; }
LBM_HD double magnitude(double x) { return x < 0 ? -x : x; }

/// Returns factor * x for a small compile-time integer; the factors 1 and -1 cost no multiplication.
template <int Factor, class V>
LBM_HD V scaled(V x) {
    if constexpr (Factor == 1) {
        return x;
    } else if constexpr (Factor == -1) {
        return -x;
    } else {
        return x * Scalar<V>(Factor);
    }
}

/// Adds factor * x to the sum for a small compile-time integer. The factor 0 costs nothing, 1 and -1 no multiplication.
template <int Factor, class V>
LBM_HD void accumulate(V& sum, V x) {
    if constexpr (Factor == 1) {
        sum = sum + x;
    } else if constexpr (Factor == -1) {
        sum = sum - x;
    } else if constexpr (Factor != 0) {
        sum = sum + x * Scalar<V>(Factor);
    }
}

}  // namespace lbm
