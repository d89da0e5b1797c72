// Parameters of collisions as a row of numbers, as all but kernels hold them.
#pragma once

#include "portability.h"

namespace lbm {

/// Parameters hold nothing but numbers of one type, side by side.
template <class Parameters>
constexpr int number_count = int(sizeof(Parameters) / sizeof(Parameters::omega));

/// Parameters in their own type from the numbers of those in float64.
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
