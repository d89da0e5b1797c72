// The wall-adapting local eddy-viscosity model, WALE.
#pragma once

#include "gradient.h"

namespace lbm {

/// nu_t = (Cw Delta)^2 (Sd:Sd)^{3/2} / ((S:S)^{5/2} + (Sd:Sd)^{5/4}) with Delta of one cell (Nicoud & Ducros, Flow
/// Turbul. Combust. 62 (1999) 183, eq. 13). S is the symmetric part of the velocity gradient g, and Sd that of g^2
/// without its trace (eq. 10). It vanishes in pure shear, and with the cube of the distance at a wall.
struct WALE {
    static constexpr const char* name = "wale";
    static constexpr bool takes_gradients = true;

    /// The factor from the constant Cw.
    static constexpr double factor(double constant) { return constant * constant; }

    template <class V, int D>
    LBM_HD static V eddy_viscosity(const VelocityGradient<V, D>& g, Scalar<V> factor) {
        using Real = Scalar<V>;
        constexpr Real half = Real(0.5), third = Real(1.0 / 3);
        V square[D][D];
        static_for<D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<D>([&]<int b>() LBM_INLINE_LAMBDA {
                square[a][b] = g.of[a][0] * g.of[0][b];
                static_for<D - 1>(
                    [&]<int k>() LBM_INLINE_LAMBDA { square[a][b] = square[a][b] + g.of[a][k + 1] * g.of[k + 1][b]; });
            });
        });
        V trace = square[0][0];
        static_for<D - 1>([&]<int k>() LBM_INLINE_LAMBDA { trace = trace + square[k + 1][k + 1]; });
        const V mean = third * trace;
        V strain2 = V{}, traceless2 = V{};  // S:S and Sd:Sd
        static_for<D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<D>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a == b) {
                    const V traceless = square[a][a] - mean;
                    strain2 = strain2 + g.of[a][a] * g.of[a][a];
                    traceless2 = traceless2 + traceless * traceless;
                } else if constexpr (a < b) {
                    const V strain = g.of[a][b] + g.of[b][a], traceless = square[a][b] + square[b][a];
                    strain2 = strain2 + half * (strain * strain);
                    traceless2 = traceless2 + half * (traceless * traceless);
                }
            });
        });
        if constexpr (D == 2) {  // the third diagonal element of Sd
            traceless2 = traceless2 + mean * mean;
        }
        // With q = sqrt(Sd:Sd): q^3 / ((S:S)^2 sqrt(S:S) + q^2 sqrt(q)). The least number keeps rest from 0 / 0.
        const V q = square_root(traceless2), q2 = q * q;
        const V divisor = (strain2 * strain2) * square_root(strain2) + q2 * square_root(q);
        return factor * ((q2 * q) / (divisor + Real(least_divisor)));
    }
};

}  // namespace lbm
