// D2Q37, the two-dimensional multispeed stencil, with a radius of three cells.
#pragma once

#include "../stencil.h"

namespace lbm {

/// A quadrature of degree 9, which is sufficient for the energy and its flux. The weights of its eight shells and cs2
/// solve the conditions on the moments up to eighth order (Shan, Yuan & Chen, J. Fluid Mech. 550 (2006) 413, table 1;
/// Philippi, Hegele, dos Santos & Surmas, Phys. Rev. E 73 (2006) 056702).
struct D2Q37 {
    static constexpr const char* name = "D2Q37";
    static constexpr int D = 2, Q = 37, radius = 3;
    static constexpr int c[Q][3] = {
        {0, 0, 0},  {1, 0, 0}, {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {1, 1, 0}, {-1, -1, 0}, {1, -1, 0},
        {-1, 1, 0}, {2, 0, 0}, {-2, 0, 0},  {0, 2, 0},  {0, -2, 0}, {2, 1, 0}, {-2, -1, 0}, {2, -1, 0},
        {-2, 1, 0}, {1, 2, 0}, {-1, -2, 0}, {1, -2, 0}, {-1, 2, 0}, {2, 2, 0}, {-2, -2, 0}, {2, -2, 0},
        {-2, 2, 0}, {3, 0, 0}, {-3, 0, 0},  {0, 3, 0},  {0, -3, 0}, {3, 1, 0}, {-3, -1, 0}, {3, -1, 0},
        {-3, 1, 0}, {1, 3, 0}, {-1, -3, 0}, {1, -3, 0}, {-1, 3, 0}};
    static constexpr double cs2 = 0.697953322019683088238409055389;
    static constexpr double shell_weight[11] = {0.233150669132352502286506704067,
                                                0.107306091542219002412464287183,
                                                0.0576678598887948820300692153933,
                                                0.0,
                                                0.0142082161584507502646989423441,
                                                0.00535304900051377523273150166219,
                                                0.0,
                                                0.0,
                                                0.00101193759267357547541090850664,
                                                0.000245301027757717345465916643268,
                                                0.000283414252994198217400525294195};
};

static_assert(detail::stencil_is_sound<D2Q37>() && detail::carries_energy<D2Q37>());

}  // namespace lbm
