// Parameters of collisions as an array of float64 numbers, the form in which all code but the kernels holds them.
#pragma once

#include "portability.h"

namespace lbm {

/// How many numbers a parameter struct holds. All its members must be of one floating-point type.
template <class Parameters>
constexpr int number_count = int(sizeof(Parameters) / sizeof(Parameters::omega));

/// Makes a parameter struct in its own arithmetic type from its float64 numbers.
template <class Parameters>
LBM_HD Parameters parameters_from(const double* numbers) {
    using Real = decltype(Parameters::omega);
    struct Numbers {
        Real values[number_count<Parameters>];
    } row{};
    static_assert(sizeof(Numbers) == sizeof(Parameters));
    for (int k = 0; k < number_count<Parameters>; ++k) {
        row.values[k] = Real(numbers[k]);
    }
    return __builtin_bit_cast(Parameters, row);
}

}  // namespace lbm
