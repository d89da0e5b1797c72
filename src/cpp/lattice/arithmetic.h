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

LBM_HD float magnitude(float x) {
#if defined(__CUDA_ARCH__)
    return fabsf(x);  // NVRTC does not know the other name
#else
    return __builtin_fabsf(x);
#endif
}

LBM_HD double magnitude(double x) {
#if defined(__CUDA_ARCH__)
    return fabs(x);
#else
    return __builtin_fabs(x);
#endif
}

/// Returns 1 / x, rounded as a division rounds it, for a finite x that is not 0. On a GPU the code of a division also
/// has a branch for all other numbers, which takes longer than the rest of it.
template <class V>
LBM_HD V reciprocal(V x) {
    return Scalar<V>(1) / x;
}
#if defined(__CUDA_ARCH__)
template <>
LBM_HD float reciprocal(float x) {
    float estimate;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(estimate) : "f"(x));
    return __fmaf_rn(estimate, __fmaf_rn(-x, estimate, 1.0F), estimate);
}
#endif

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

/// Returns y + factor * x for a power of two. The product is exact, so the one operation in which a processor may do
/// this gives the bits of a multiplication and an addition.
template <class V>
LBM_HD V plus_exact_product(V y, V x, Scalar<V> factor) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(V) == 4) {
        return __fmaf_rn(factor, x, y);
    } else {
        return __fma_rn(factor, x, y);
    }
#else
    return y + x * factor;
#endif
}

/// The same for a factor above 1 that is known at compile time, or its negative.
template <int Factor, class V>
LBM_HD V plus_multiple(V y, V x) {
    constexpr int size = Factor < 0 ? -Factor : Factor;
    static_assert(size > 1 && (size & (size - 1)) == 0);
    return plus_exact_product(y, x, Scalar<V>(Factor));
}

/// The same with the factor 1 / Divisor.
template <int Divisor, class V>
LBM_HD V plus_fraction(V y, V x) {
    constexpr int size = Divisor < 0 ? -Divisor : Divisor;
    static_assert(size > 1 && (size & (size - 1)) == 0);
    return plus_exact_product(y, x, Scalar<V>(1.0 / Divisor));
}

/// Returns y + factor * x for any compile-time integer, by one plus_multiple() for each of its binary digits.
template <int Factor, class V>
LBM_HD V plus_multiples(V y, V x) {
    constexpr int size = Factor < 0 ? -Factor : Factor, sign = Factor < 0 ? -1 : 1;
    static_assert(size > 0);
    constexpr int lower = size & (size - 1), digit = size - lower;
    V sum = y;
    if constexpr (lower != 0) {
        sum = plus_multiples<sign * lower>(y, x);
    }
    if constexpr (digit == 1) {
        return sign == 1 ? sum + x : sum - x;
    } else {
        return plus_multiple<sign * digit>(sum, x);
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
