// A wall of a body at a given distance, by linear interpolation between post-collision populations.
#pragma once

#include "linear_wall.h"

namespace lbm::boundary {

/// Bouzidi, Firdaouss & Lallemand, Phys. Fluids 13 (2001) 3452: what hits the wall is interpolated before
/// it leaves where the wall is near, what comes back after that where it is far. q = 1/2 is half-way bounce-back.
struct BouzidiWall {
    static constexpr const char* name = "bouzidi-wall";

    static constexpr LinearWeights weights(double q) {
        return q < 0.5 ? LinearWeights{0, 1 - 2 * q, 1} : LinearWeights{1 - 1 / (2 * q), 0, 1 / (2 * q)};
    }
};

}  // namespace lbm::boundary
