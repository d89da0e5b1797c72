// The numbers that the collision of a cell takes of the gradient of the velocity, which are known before it.
#pragma once

#include "gradient.h"

namespace lbm {

/// How many elements with a <= b a symmetric tensor has.
template <int D>
constexpr int symmetric_count = D*(D + 1) / 2;

/// The place of the element (a, b) with a <= b among these: row by row.
template <int D>
LBM_HD constexpr int symmetric_place(int a, int b) {
    return a * D - a * (a - 1) / 2 + (b - a);
}

/// How many numbers a cell has: an eddy viscosity, and the elements of the strain rate.
constexpr int gradient_term_count(int D, bool viscosity, bool strain) {
    return (viscosity ? 1 : 0) + (strain ? D * (D + 1) / 2 : 0);
}

/// Computes them: the eddy viscosity of `Model`, unless that is void, and with `strain` the elements S_ab = (du_a/dx_b
/// + du_b/dx_a) / 2 with a <= b, in this order.
template <class Model, bool strain>
struct GradientTerms {
    static constexpr bool has_viscosity = requires { Model::name; };
    template <int D>
    static constexpr int count = gradient_term_count(D, has_viscosity, strain);

    /// `factor` is that of the model's constant.
    template <class V, int D>
    LBM_HD static void compute(const VelocityGradient<V, D>& g, Scalar<V> factor, V (&terms)[count<D>]) {
        if constexpr (has_viscosity) {
            terms[0] = Model::eddy_viscosity(g, factor);
        }
        if constexpr (strain) {
            static_for<D>([&]<int a>() LBM_INLINE_LAMBDA {
                static_for<D>([&]<int b>() LBM_INLINE_LAMBDA {
                    if constexpr (a <= b) {
                        constexpr int k = (has_viscosity ? 1 : 0) + symmetric_place<D>(a, b);
                        terms[k] = a == b ? g.of[a][a] : Scalar<V>(0.5) * (g.of[a][b] + g.of[b][a]);
                    }
                });
            });
        }
    }
};

}  // namespace lbm
