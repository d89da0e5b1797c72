// A SIMD pack of numbers, based on the compilers' vector types, with loads and stores for each storage format.
#pragma once

#if defined(__F16C__) || defined(__FMA__)
#include <immintrin.h>
#endif

#include "../../lattice/arithmetic.h"
#include "../../lattice/storage.h"

namespace lbm::cpu {

template <class Real, int W>
struct Pack {
    using Scalar = Real;
    static constexpr int width = W;
    using Vector [[gnu::vector_size(W * sizeof(Real))]] = Real;
    using Floats [[gnu::vector_size(W * sizeof(float))]] = float;

    Vector v;

    LBM_HD friend Pack operator+(Pack a, Pack b) { return {a.v + b.v}; }
    LBM_HD friend Pack operator-(Pack a, Pack b) { return {a.v - b.v}; }
    LBM_HD friend Pack operator*(Pack a, Pack b) { return {a.v * b.v}; }
    LBM_HD friend Pack operator/(Pack a, Pack b) { return {a.v / b.v}; }
    LBM_HD friend Pack operator+(Pack a, Real b) { return {a.v + b}; }
    LBM_HD friend Pack operator+(Real a, Pack b) { return {a + b.v}; }
    LBM_HD friend Pack operator-(Pack a, Real b) { return {a.v - b}; }
    LBM_HD friend Pack operator-(Real a, Pack b) { return {a - b.v}; }
    LBM_HD friend Pack operator*(Pack a, Real b) { return {a.v * b}; }
    LBM_HD friend Pack operator*(Real a, Pack b) { return {a * b.v}; }
    LBM_HD friend Pack operator/(Pack a, Real b) { return {a.v / b}; }
    LBM_HD friend Pack operator/(Real a, Pack b) { return {a / b.v}; }
    LBM_HD friend Pack operator-(Pack a) { return {-a.v}; }

    LBM_HD friend Pack square_root(Pack a) {
        Pack root;
        for (int lane = 0; lane < W; ++lane) {
            root.v[lane] = lbm::square_root(a.v[lane]);
        }
        return root;
    }
    LBM_HD friend Pack magnitude(Pack a) { return {a.v < 0 ? -a.v : a.v}; }
};

/// plus_exact_product() of lattice/arithmetic.h in one operation, where the processor has it: vector types have none.
template <class Real, int W>
LBM_HD Pack<Real, W> plus_exact_product(Pack<Real, W> y, Pack<Real, W> x, Real factor) {
    constexpr int bytes = W * int(sizeof(Real));
    static_cast<void>(bytes);
#if defined(__AVX512F__)
    if constexpr (bytes == 64 && sizeof(Real) == 4) {
        return {(typename Pack<Real, W>::Vector)_mm512_fmadd_ps((__m512)x.v, _mm512_set1_ps(factor), (__m512)y.v)};
    } else if constexpr (bytes == 64) {
        return {(typename Pack<Real, W>::Vector)_mm512_fmadd_pd((__m512d)x.v, _mm512_set1_pd(factor), (__m512d)y.v)};
    }
#endif
#if defined(__FMA__)
    if constexpr (bytes == 32 && sizeof(Real) == 4) {
        return {(typename Pack<Real, W>::Vector)_mm256_fmadd_ps((__m256)x.v, _mm256_set1_ps(factor), (__m256)y.v)};
    } else if constexpr (bytes == 32) {
        return {(typename Pack<Real, W>::Vector)_mm256_fmadd_pd((__m256d)x.v, _mm256_set1_pd(factor), (__m256d)y.v)};
    }
#endif
    return y + x * factor;
}

/// Returns the pack with one lane replaced by `value`.
template <class Real, int W>
LBM_HD Pack<Real, W> with_lane(Pack<Real, W> pack, int lane, Real value) {
    using Lanes = decltype(pack.v < pack.v);
    Lanes index;
    for (int k = 0; k < W; ++k) {
        index[k] = k;
    }
    return {index == lane ? value + typename Pack<Real, W>::Vector{} : pack.v};
}

template <class Real, int W>
LBM_HD Pack<Real, W> load_pack(const Real* p) {
    Pack<Real, W> pack;
    __builtin_memcpy(&pack.v, p, sizeof pack.v);
    return pack;
}

/// Loads W numbers and multiplies them by a factor, in float64; the products are rounded.
template <class Real, int W>
LBM_HD Pack<Real, W> load_scaled(const double* p, double factor) {
    Real each[W];
    for (int k = 0; k < W; ++k) {
        each[k] = Real(p[k] * factor);
    }
    return load_pack<Real, W>(each);
}

template <class Real, int W>
LBM_HD void store_pack(Real* p, Pack<Real, W> pack) {
    __builtin_memcpy(p, &pack.v, sizeof pack.v);
}

namespace detail {

/// Conversion without hardware support; not inlined, because a kernel converts dozens of packs.
[[gnu::noinline]] [[maybe_unused]] static void convert_each(const Half* from, float* to, int count) {
    for (int k = 0; k < count; ++k) {
        to[k] = half_bits_to_float(from[k].bits);
    }
}
[[gnu::noinline]] [[maybe_unused]] static void convert_each(const float* from, Half* to, int count) {
    for (int k = 0; k < count; ++k) {
        to[k].bits = float_to_half_bits(from[k]);
    }
}

/// Converts W float16 numbers to float32 and back; the hardware rounds as the conversions of lattice/storage.h do.
template <int W, class Floats>
LBM_HD Floats floats_from_halves(const Half* p) {
#if defined(__AVX512F__)
    if constexpr (W == 16) {
        return (Floats)_mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
#endif
#if defined(__F16C__)
    if constexpr (W == 8) {
        return (Floats)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    } else if constexpr (W == 4) {
        return (Floats)_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }
#endif
    float each[W];
    convert_each(p, each, W);
    Floats floats;
    __builtin_memcpy(&floats, each, sizeof floats);
    return floats;
}

template <int W, class Floats>
LBM_HD void halves_from_floats(Half* p, Floats floats) {
#if defined(__AVX512F__)
    if constexpr (W == 16) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_maskz_cvtps_ph(0xFFFF, (__m512)floats, 0));
        return;
    }
#endif
#if defined(__F16C__)
    if constexpr (W == 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)floats, 0));
        return;
    } else if constexpr (W == 4) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_cvtps_ph((__m128)floats, 0));
        return;
    }
#endif
    float each[W];
    __builtin_memcpy(each, &floats, sizeof floats);
    convert_each(each, p, W);
}

}  // namespace detail

/// Loads and stores W stored numbers, in storage units.
template <class Real, int W, class Storage>
LBM_HD Pack<Real, W> load_stored(const Storage* p) {
    using P = Pack<Real, W>;
    if constexpr (sizeof(Storage) == sizeof(Real)) {
        return load_pack<Real, W>(p);
    } else if constexpr (sizeof(Storage) == 2) {
        const typename P::Floats floats = detail::floats_from_halves<W, typename P::Floats>(p);
        return {__builtin_convertvector(floats, typename P::Vector)};
    } else {
        typename P::Floats floats;
        __builtin_memcpy(&floats, p, sizeof floats);
        return {__builtin_convertvector(floats, typename P::Vector)};
    }
}

template <class Real, int W, class Storage>
LBM_HD void store_stored(Storage* p, Pack<Real, W> pack) {
    using P = Pack<Real, W>;
    if constexpr (sizeof(Storage) == sizeof(Real)) {
        store_pack<Real, W>(p, pack);
    } else {
        const typename P::Floats floats = __builtin_convertvector(pack.v, typename P::Floats);
        if constexpr (sizeof(Storage) == 2) {
            detail::halves_from_floats<W>(p, floats);
        } else {
            __builtin_memcpy(p, &floats, sizeof floats);
        }
    }
}

}  // namespace lbm::cpu
