// Regularised BGK collision (Latt & Chopard, Math. Comput. Simul. 72 (2006) 165): the non-equilibrium part is rebuilt
// from its stress alone before it relaxes, K = 1 - (1 - omega) R with R n = w / (2 cs2^2) (c c - cs2) : Pi (eq. 14).
#pragma once

#include "../collide.h"
#include "../moment_orders.h"

namespace lbm {

struct Regularized : OneRate {
    static constexpr const char* name = "regularized";
    static constexpr MomentOrders moment_orders = MomentOrders::Second;

    template <class S, class V, class Parameters>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const Parameters&) {
        using T = Stencil<S>;
        using Real = Scalar<V>;
        V stress[S::D][S::D];
        V trace = V{};
        static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a <= b) {
                    stress[a][b] = V{};
                    static_for<T::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
                        accumulate<S::c[2 * p + 1][a] * S::c[2 * p + 1][b]>(stress[a][b], n.even[p]);
                    });
                }
            });
            trace = trace + stress[a][a];
        });
        const V isotropic = trace * Real(-T::cs2);
        const V kept = Real(1) - omega;
        PairChange<S, V> change;
        static_for<T::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            constexpr int i = 2 * p + 1;
            V projected = isotropic;
            static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
                static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
                    if constexpr (a <= b) {
                        accumulate<(a < b ? 2 : 1) * S::c[i][a] * S::c[i][b]>(projected, stress[a][b]);
                    }
                });
            });
            change.even[p] = kept * (Real(4.5 * T::w(i)) * projected) - Real(0.5) * n.even[p];
            change.odd[p] = Real(-0.5) * n.odd[p];
        });
        return change;
    }
};

}  // namespace lbm
