// Vreman's eddy-viscosity model.
#pragma once

#include "gradient.h"

namespace lbm {

/// nu_t = c sqrt(B / alpha:alpha) with alpha_ij = du_j/dx_i, beta_ij = Delta^2 alpha_mi alpha_mj, Delta of one cell,
/// and B = beta_11 beta_22 - beta_12^2 + beta_11 beta_33 - beta_13^2 + beta_22 beta_33 - beta_23^2 (Vreman, Phys.
/// Fluids 16 (2004) 3670, eqs. 5 to 8). It vanishes in pure shear.
struct Vreman {
    static constexpr const char* name = "vreman";
    static constexpr bool takes_gradients = true;

    /// The factor from the constant c.
    static constexpr double factor(double constant) { return constant; }

    /// Each difference in B is the square of a cross product of two rows of the gradient (Lagrange's identity), so B is
    /// a sum of squares of minors, which rounding cannot make negative.
    template <class V, int D>
    LBM_HD static V eddy_viscosity(const VelocityGradient<V, D>& g, Scalar<V> factor) {
        V norm2 = V{}, minors2 = V{};
        static_for<D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<D>([&]<int b>() LBM_INLINE_LAMBDA {
                norm2 = norm2 + g.of[a][b] * g.of[a][b];
                if constexpr (a < b) {
                    static_for<D>([&]<int i>() LBM_INLINE_LAMBDA {
                        static_for<D>([&]<int j>() LBM_INLINE_LAMBDA {
                            if constexpr (i < j) {
                                const V minor = g.of[a][i] * g.of[b][j] - g.of[a][j] * g.of[b][i];
                                minors2 = minors2 + minor * minor;
                            }
                        });
                    });
                }
            });
        });
        return factor * square_root(minors2 / (norm2 + Scalar<V>(least_divisor)));
    }
};

}  // namespace lbm
