// D3Q27: all three-dimensional velocities with components -1, 0 and 1.
#pragma once

#include "../stencil.h"

namespace lbm {

struct D3Q27 {
    static constexpr const char* name = "D3Q27";
    static constexpr int D = 3, Q = 27, radius = 1;
    static constexpr int c[Q][3] = {{0, 0, 0},   {1, 0, 0},  {-1, 0, 0},   {0, 1, 0},  {0, -1, 0},  {0, 0, 1},
                                    {0, 0, -1},  {1, 1, 0},  {-1, -1, 0},  {1, -1, 0}, {-1, 1, 0},  {1, 0, 1},
                                    {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1},   {0, 1, 1},  {0, -1, -1}, {0, 1, -1},
                                    {0, -1, 1},  {1, 1, 1},  {-1, -1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1},
                                    {-1, 1, -1}, {-1, 1, 1}, {1, -1, -1}};
    static constexpr double cs2 = 1.0 / 3;
    static constexpr double shell_weight[4] = {8.0 / 27, 2.0 / 27, 1.0 / 54, 1.0 / 216};
};

static_assert(detail::stencil_is_sound<D3Q27>());

}  // namespace lbm
