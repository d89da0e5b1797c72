// Tests of the conversions to and from stored numbers, against arithmetic and against the processor's instructions.
#include <bit>
#include <cstdint>
#include <limits>

#include "../../src/cpp/lattice/storage.h"
#include "check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using lbm::UInt16;

/// By its bits: the library is compiled for arithmetic that does not tell the two zeros apart.
unsigned sign_bit(float x) { return std::bit_cast<std::uint32_t>(x) >> 31U; }

double value_of_half(unsigned half) {
    const double sign = (half & 0x8000U) != 0 ? -1 : 1;
    const int exponent = int((half >> 10) & 31U);
    const int mantissa = int(half & 0x3FFU);
    if (exponent == 31) {
        return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    }
    return exponent == 0 ? sign * std::ldexp(mantissa, -24) : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

/// The magnitude of binary16 nearest to a finite x >= 0, ties to even, by arithmetic in binary64, which is exact here.
unsigned nearest_half(double x) {
    if (x >= 65520) {
        return 0x7C00;
    }
    const int exponent = x < 0x1p-14 ? -14 : std::ilogb(x);
    const double units = std::nearbyint(std::ldexp(x, 10 - exponent));
    return unsigned((exponent + 14) * 1024 + int(units));
}

/// Floats where rounding decides: every half, the ties between neighbours, and what lies just beside them.
template <class Visit>
void for_critical_floats(Visit&& visit) {
    for (unsigned half = 0; half < 0x7C00; ++half) {
        const auto here = float(value_of_half(half));
        const float next = half == 0x7BFF ? 65536.0F : float(value_of_half(half + 1));
        const float tie = here + (next - here) / 2;
        for (const float x : {here, tie}) {
            const auto bits = std::bit_cast<std::uint32_t>(x);
            for (const std::uint32_t near : {bits, bits + 1, bits == 0 ? 0 : bits - 1}) {
                visit(std::bit_cast<float>(near));
                visit(-std::bit_cast<float>(near));
            }
        }
    }
    // And a walk through all bit patterns in steps that share no factor with powers of two.
    for (std::uint64_t bits = 0; bits < (std::uint64_t(1) << 32); bits += 6007) {
        visit(std::bit_cast<float>(std::uint32_t(bits)));
    }
}

}  // namespace

TEST(storage_half_to_float_is_exact) {
    for (unsigned half = 0; half < 0x10000; ++half) {
        const float x = lbm::half_bits_to_float(UInt16(half));
        const double expected = value_of_half(half);
        if (std::isnan(expected)) {
            CHECK(std::isnan(x));
        } else {
            CHECK_EQUAL(double(x), expected);
            CHECK_EQUAL(sign_bit(x), (half & 0x8000U) >> 15U);
        }
    }
}

TEST(storage_float_to_half_rounds_to_nearest_even) {
    for_critical_floats([](float x) {
        const unsigned half = lbm::float_to_half_bits(x);
        if (std::isnan(x)) {
            CHECK((half & 0x7C00U) == 0x7C00U && (half & 0x3FFU) != 0);
            return;
        }
        const unsigned sign = sign_bit(x) << 15U;
        CHECK_EQUAL(half, sign | (std::isinf(x) ? 0x7C00U : nearest_half(std::abs(double(x)))));
    });
}

TEST(storage_every_half_survives_a_round_trip) {
    for (unsigned half = 0; half < 0x10000; ++half) {
        const float x = lbm::half_bits_to_float(UInt16(half));
        if (!std::isnan(x)) {
            CHECK_EQUAL(unsigned(lbm::float_to_half_bits(x)), half);
        }
    }
}

TEST(storage_deviations_survive_a_round_trip) {
    for (const float x : {0.0F, 0.5F, -0.25F, 0x1p-30F, -1.5F}) {
        CHECK_EQUAL(lbm::from_storage<float>(lbm::Store<lbm::Half>::from(x)), x);
        CHECK_EQUAL(lbm::from_storage<double>(lbm::Store<lbm::Half>::from(double(x))), double(x));
        CHECK_EQUAL(lbm::from_storage<double>(lbm::Store<float>::from(double(x))), double(x));
        CHECK_EQUAL(lbm::from_storage<double>(lbm::Store<double>::from(double(x))), double(x));
    }
}

#if defined(__x86_64__)
namespace {

[[gnu::target("f16c")]] unsigned converted_by_processor(float x) { return _cvtss_sh(x, 0); }
[[gnu::target("f16c")]] float converted_by_processor(unsigned short half) { return _cvtsh_ss(half); }

}  // namespace

TEST(storage_half_conversions_equal_those_of_the_processor) {
    if (__builtin_cpu_supports("f16c") == 0) {
        return;
    }
    for (unsigned half = 0; half < 0x10000; ++half) {
        const float x = lbm::half_bits_to_float(UInt16(half));
        const float expected = converted_by_processor(static_cast<unsigned short>(half));
        CHECK(std::isnan(x) ? std::isnan(expected)
                            : std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(expected));
    }
    for_critical_floats([](float x) { CHECK_EQUAL(unsigned(lbm::float_to_half_bits(x)), converted_by_processor(x)); });
}
#endif
