// The formats in which the deviation of a population from its rest value is stored: float64, float32 or scaled float16.
#pragma once

#include "portability.h"

namespace lbm {

/// An IEEE binary16 number that holds 2^15 times the value: its range is +-2, its absolute resolution down to 2^-39.
struct Half {
    UInt16 bits;
};

namespace detail {

LBM_HD UInt32 bits_of(float x) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(x);
#else
    return __builtin_bit_cast(UInt32, x);
#endif
}

LBM_HD float float_of(UInt32 bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    return __builtin_bit_cast(float, bits);
#endif
}

}  // namespace detail

/// Converts binary16 to binary32, which is exact.
LBM_HD float half_bits_to_float(UInt16 half) {
#if defined(__CUDA_ARCH__)
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    return x;
#else
    const UInt32 sign = UInt32(half & 0x8000U) << 16;
    const UInt32 exponent = (half >> 10) & 0x1FU;
    const UInt32 mantissa = half & 0x3FFU;
    if (exponent == 0) {
        const float magnitude = float(mantissa) * 0x1p-24F;
        return detail::float_of(detail::bits_of(magnitude) | sign);
    }
    if (exponent == 31) {
        return detail::float_of(sign | 0x7F800000U | (mantissa << 13));
    }
    return detail::float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
#endif
}

/// Converts binary32 to binary16, rounded to nearest with ties to even, as the hardware conversions do.
LBM_HD UInt16 float_to_half_bits(float x) {
#if defined(__CUDA_ARCH__)
    UInt16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
#else
    const UInt32 bits = detail::bits_of(x);
    const UInt32 sign = (bits >> 16) & 0x8000U;
    const UInt32 magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) {
        return UInt16(sign | 0x7E00U | ((magnitude >> 13) & 0x3FFU));
    }
    if (magnitude >= 0x477FF000U) {  // 65520 and above round to infinity
        return UInt16(sign | 0x7C00U);
    }
    if (magnitude < 0x38800000U) {  // below 2^-14: subnormal, in units of 2^-24
        if (magnitude < 0x33000000U) {
            return UInt16(sign);
        }
        const UInt32 shift = 126 - (magnitude >> 23);
        const UInt32 mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
        const UInt32 kept = mantissa >> shift;
        const UInt32 rest = mantissa & ((1U << shift) - 1);
        const UInt32 tie = 1U << (shift - 1);
        return UInt16(sign | (kept + (rest > tie || (rest == tie && (kept & 1U)))));
    }
    const UInt32 rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U);
    return UInt16(sign | ((rounded - 0x38000000U) >> 13));
#endif
}

/// The deviation that the stored number 1 represents. The update of a cell is homogeneous in this unit, so it computes
/// in storage units, which saves two multiplications per population. A power of 2 changes no bit of the result.
template <class Stored>
inline constexpr float storage_unit = 1;
template <>
inline constexpr float storage_unit<Half> = 1.0F / 32768.0F;

/// Reads a stored number: units_from_storage in storage units, from_storage as a deviation.
template <class Real>
LBM_HD Real units_from_storage(double x) {
    return Real(x);
}
template <class Real>
LBM_HD Real units_from_storage(float x) {
    return Real(x);
}
template <class Real>
LBM_HD Real units_from_storage(Half x) {
    return Real(half_bits_to_float(x.bits));
}
template <class Real, class Stored>
LBM_HD Real from_storage(Stored x) {
    return units_from_storage<Real>(x) * Real(storage_unit<Stored>);
}

/// Makes the number to store: from_units from a value in storage units, from() from a deviation.
template <class Stored>
struct Store {
    template <class Real>
    LBM_HD static Stored from_units(Real x) {
        if constexpr (sizeof(Stored) == sizeof(Half)) {
            return Half{float_to_half_bits(float(x))};
        } else {
            return Stored(x);
        }
    }
    template <class Real>
    LBM_HD static Stored from(Real x) {
        return from_units(x * Real(1 / storage_unit<Stored>));
    }
};

}  // namespace lbm
