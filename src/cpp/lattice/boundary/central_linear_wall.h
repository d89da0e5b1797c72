// A wall of a body at a given distance, by central linear interpolation.
#pragma once

#include "linear_wall.h"

namespace lbm::boundary {

/// The central linear interpolation (CLI) of Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427: one
/// formula for all q, whose wall lies at the same place for all viscosities of a TRT collision with the same magic
/// parameter. q = 1/2 is half-way bounce-back.
struct CentralLinearWall {
    static constexpr const char* name = "central-linear-wall";

    static constexpr LinearWeights weights(double q) {
        const double kappa = (1 - 2 * q) / (1 + 2 * q);
        return {-kappa, kappa, 2 / (1 + 2 * q)};
    }
};

}  // namespace lbm::boundary
