// D3Q19: the three-dimensional velocities up to the diagonals of the coordinate planes (Qian, d'Humieres & Lallemand,
// EPL 17 (1992) 479).
#pragma once

#include "../stencil.h"

namespace lbm {

struct D3Q19 {
    static constexpr const char* name = "D3Q19";
    static constexpr int D = 3, Q = 19, radius = 1;
    static constexpr int c[Q][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},
                                    {0, 0, 1},  {0, 0, -1},  {1, 1, 0},   {-1, -1, 0}, {1, -1, 0},
                                    {-1, 1, 0}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1},
                                    {0, 1, 1},  {0, -1, -1}, {0, 1, -1},  {0, -1, 1}};
    static constexpr double cs2 = 1.0 / 3;
    static constexpr double shell_weight[4] = {1.0 / 3, 1.0 / 18, 1.0 / 36, 0.0};
};

static_assert(detail::stencil_is_sound<D3Q19>());

}  // namespace lbm
