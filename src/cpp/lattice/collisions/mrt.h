// Multiple relaxation times: K = M^-1 diag(s) M in an orthogonal basis, M^-1 = M^T diag(1 / norm^2).
#pragma once

#include "../collide.h"
#include "../moment_basis.h"

namespace lbm {

namespace detail {

/// Row k of the basis over pairs: what multiplies the sum (even rows) or the difference (odd rows) of pair p. The rest
/// population of n is minus the sum of all pairs, which moves its coefficient onto the pairs.
template <class S>
constexpr int pair_coefficient(int k, int p) {
    return Moment<S>::value(k, 2 * p + 1) - (Moment<S>::even(k) ? Moment<S>::value(k, 0) : 0);
}

/// The first pair of the same shell with the same coefficient but for its sign. Such pairs are added before they are
/// multiplied, and rows that agree on a group share its sum.
template <class S>
constexpr int leader(int k, int p) {
    for (int q = 0; q < p; ++q) {
        const int a = pair_coefficient<S>(k, p), b = pair_coefficient<S>(k, q);
        if (shell_of_pair<S>(p) == shell_of_pair<S>(q) && (a == b || a == -b)) {
            return q;
        }
    }
    return p;
}

/// Moment k of n.
template <class S, int k, class V>
LBM_HD V moment_of(const V (&parts)[Stencil<S>::pairs]) {
    V moment = V{};
    static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
        constexpr int coefficient = pair_coefficient<S>(k, p);
        if constexpr (coefficient != 0 && leader<S>(k, p) == p) {
            V group = parts[p];
            static_for<Stencil<S>::pairs>([&]<int q>() LBM_INLINE_LAMBDA {
                if constexpr (q > p && leader<S>(k, q) == p) {
                    accumulate<(pair_coefficient<S>(k, q) == coefficient) ? 1 : -1>(group, parts[q]);
                }
            });
            accumulate<coefficient>(moment, group);
        }
    });
    return moment;
}

}  // namespace detail

struct MRT {
    static constexpr const char* name = "mrt";

    template <class S, class V, class Real>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega,
                                         const CollisionParameters<Real>& parameters) {
        using M = Moment<S>;
        PairChange<S, V> relaxed;
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA { relaxed.even[p] = relaxed.odd[p] = V{}; });
        static_for<S::Q>([&]<int k>() LBM_INLINE_LAMBDA {
            if constexpr (!M::conserved(k)) {
                constexpr bool even = M::even(k);
                V moment = detail::moment_of<S, k>(even ? n.even : n.odd);
                if constexpr (M::sets_viscosity(k)) {
                    moment = moment * parameters.stress_share[k] * omega;
                } else if constexpr (M::follows_stress(k)) {
                    moment = moment * (omega * parameters.stress_share[k] + parameters.moment_rate[k]);
                } else {
                    moment = moment * parameters.moment_rate[k];
                }
                static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
                    accumulate<M::value(k, 2 * p + 1)>(even ? relaxed.even[p] : relaxed.odd[p], moment);
                });
            }
        });
        return relaxed;
    }
};

}  // namespace lbm
