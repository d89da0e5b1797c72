// A turbulence model for testing its extension point: the eddy viscosity of Smagorinsky (Mon. Weather Rev. 91 (1963)
// 99), from the gradient of the velocity.
#pragma once

#include "gradient.h"

namespace lbm {

/// nu_t = c^2 sqrt(2 S:S) with the strain rate S and a filter as wide as a cell.
struct StrainModel {
    static constexpr const char* name = "strain";
    static constexpr bool takes_gradients = true;

    static constexpr double factor(double constant) { return constant * constant; }

    template <class V, int D>
    LBM_HD static V eddy_viscosity(const VelocityGradient<V, D>& g, Scalar<V> factor) {
        V sum = V{};  // of squares of twice the strain rate
        static_for<D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<D>([&]<int b>() LBM_INLINE_LAMBDA {
                const V twice = g.of[a][b] + g.of[b][a];
                sum = sum + twice * twice;
            });
        });
        return factor * square_root(Scalar<V>(0.5) * sum);
    }
};

}  // namespace lbm
