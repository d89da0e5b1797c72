// What the checks of a field that a user gives ask for: its least and its largest number, and its longest vector.
#pragma once

#include "extremes.h"

namespace lbm::backend {

/// Extremes over cells, of which the order does not matter but for vectors of the same length. They say nothing where a
/// number is not finite.
struct FieldExtremes {
    double lowest, highest;  // of all components
    double length2;          // of the longest vector, squared
    double longest[3];
    double is_finite;  // 1 or 0

    LBM_HD static FieldExtremes of_none() { return {Extremes::infinite(), -Extremes::infinite(), -1, {0, 0, 0}, 1}; }

    LBM_HD void add(const double (&vector)[3], int components) {
        FieldExtremes own = of_none();
        own.length2 = 0;
        for (int d = 0; d < components; ++d) {
            const double value = vector[d];
            own.lowest = value < own.lowest ? value : own.lowest;
            own.highest = value > own.highest ? value : own.highest;
            own.longest[d] = value;
            own.length2 = own.length2 + value * value;
            own.is_finite = value - value == 0 ? own.is_finite : 0;
        }
        join(own);
    }

    LBM_HD void join(const FieldExtremes& other) {
        lowest = other.lowest < lowest ? other.lowest : lowest;
        highest = other.highest > highest ? other.highest : highest;
        if (other.length2 > length2) {
            length2 = other.length2;
            for (int d = 0; d < 3; ++d) {
                longest[d] = other.longest[d];
            }
        }
        is_finite = other.is_finite < is_finite ? other.is_finite : is_finite;
    }
};

}  // namespace lbm::backend
