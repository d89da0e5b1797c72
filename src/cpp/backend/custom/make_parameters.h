// Makes the parameters of a user's collision, on a GPU or in a shared object, once all of its text has been looked at.
#pragma once

#include "strict.h"

namespace lbm::custom {

/// Fills `made`, which is all zeros.
template <class S, class Collision>
LBM_HD void make_parameters(const GivenNumber* given, int count, Made& made) {
    made.goes_with_stencil = Collision::template goes_with<S>;
    if constexpr (Collision::template goes_with<S>) {
        using Strictly [[maybe_unused]] = decltype(collide_strictly<S, Collision>(nullptr));
        using Parameters = typename Collision::template Parameters<double>;
        constexpr int numbers = number_count<Parameters>;
        const Parameters parameters = Collision::template parameters<S>(Given(given, count, made));
        struct Row {
            double values[numbers];
        };
        const Row row = __builtin_bit_cast(Row, parameters);
        for (int k = 0; k < numbers; ++k) {
            made.numbers[k] = row.values[k];
        }
        made.number_count = numbers;
        made.omega = parameters.omega;
        made.smagorinsky_factor = parameters.smagorinsky_factor;
    }
}

}  // namespace lbm::custom
