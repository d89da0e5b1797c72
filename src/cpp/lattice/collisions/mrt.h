// Multiple relaxation times: K = M^-1 diag(s) M in an orthogonal basis, M^-1 = M^T diag(1 / norm^2).
#pragma once

#include "../collide.h"
#include "../moment_basis.h"

namespace lbm {

struct MRT {
    static constexpr const char* name = "mrt";

    template <class S, class V, class Real>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const CollisionParameters<Real>& parameters) {
        using M = Moment<S>;
        constexpr int pairs = Stencil<S>::pairs;
        PairChange<S, V> relaxed;
        static_for<pairs>([&](auto p) LBM_INLINE_LAMBDA { relaxed.even[p] = relaxed.odd[p] = V{}; });
        static_for<S::Q>([&](auto k) LBM_INLINE_LAMBDA {
            if constexpr (!M::conserved(k)) {
                constexpr bool even = M::even(k);
                V moment = V{};
                static_for<pairs>([&](auto p) LBM_INLINE_LAMBDA {
                    if constexpr (even) {
                        // The rest population of n is minus the sum of its pairs.
                        accumulate<M::value(k, 2 * p + 1) - M::value(k, 0)>(moment, n.even[p]);
                    } else {
                        accumulate<M::value(k, 2 * p + 1)>(moment, n.odd[p]);
                    }
                });
                moment = moment * parameters.moment_rate[k];
                if constexpr (M::sets_viscosity(k)) {
                    moment = moment * omega;
                }
                static_for<pairs>([&](auto p) LBM_INLINE_LAMBDA {
                    accumulate<M::value(k, 2 * p + 1)>(even ? relaxed.even[p] : relaxed.odd[p], moment);
                });
            }
        });
        return relaxed;
    }
};

}  // namespace lbm
