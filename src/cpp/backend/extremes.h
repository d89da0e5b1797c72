// What a look for divergence finds: the fastest cell, the ranges of density and temperature, and the first cell that is
// not valid.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

/// Extremes over fluid cells; of none they are infinite. In whatever order cells are added and parts are joined, the
/// result has the same bits. Cells are indices, x fastest, as floating-point numbers. A NaN is in no extreme.
struct Extremes {
    double speed2;   // the largest square of a speed
    double fastest;  // the first cell that has it
    double lowest;   // the least deviation of the density from 1
    double highest;  // the largest
    double invalid;  // the first cell whose state is not valid
    double coldest;  // the least temperature, as the block keeps it
    double hottest;  // the largest

    LBM_HD static double infinite() { return __builtin_bit_cast(double, 0x7ff0000000000000ULL); }
    LBM_HD static Extremes of_none() {
        return {-infinite(), infinite(), infinite(), -infinite(), infinite(), infinite(), -infinite()};
    }

    /// Adds a cell; of one without a temperature that is a NaN.
    LBM_HD void add(double cell, double deviation, double cell_speed2, double temperature, bool valid) {
        join({cell_speed2, cell, deviation, deviation, valid ? infinite() : cell, temperature, temperature});
    }
    LBM_HD static double no_temperature() { return __builtin_bit_cast(double, 0x7ff8000000000000ULL); }

    LBM_HD void join(const Extremes& other) {
        if (other.speed2 > speed2 || (other.speed2 == speed2 && other.fastest < fastest)) {
            speed2 = other.speed2;
            fastest = other.fastest;
        }
        lowest = other.lowest < lowest ? other.lowest : lowest;
        highest = other.highest > highest ? other.highest : highest;
        invalid = other.invalid < invalid ? other.invalid : invalid;
        coldest = other.coldest < coldest ? other.coldest : coldest;
        hottest = other.hottest > hottest ? other.hottest : hottest;
    }
};

}  // namespace lbm::backend
