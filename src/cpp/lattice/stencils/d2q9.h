// D2Q9: the two-dimensional velocities up to the diagonals (Qian, d'Humieres & Lallemand, EPL 17 (1992) 479).
#pragma once

#include "../stencil.h"

namespace lbm {

struct D2Q9 {
    static constexpr const char* name = "D2Q9";
    static constexpr int D = 2, Q = 9, radius = 1;
    static constexpr int c[Q][3] = {{0, 0, 0}, {1, 0, 0},   {-1, 0, 0}, {0, 1, 0}, {0, -1, 0},
                                    {1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}};
    static constexpr double cs2 = 1.0 / 3;
    // Indexed by squared speed.
    static constexpr double shell_weight[4] = {4.0 / 9, 1.0 / 9, 1.0 / 36, 0.0};
};

static_assert(detail::stencil_is_sound<D2Q9>());

}  // namespace lbm
