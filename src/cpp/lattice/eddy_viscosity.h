// The Smagorinsky model: the relaxation rate with an eddy viscosity computed from the local stress.
#pragma once

#include "moments.h"

namespace lbm {

/// Returns 1 / tau with tau = (tau_0 + sqrt(tau_0^2 + 18 sqrt(2) Cs^2 |Pi| / rho)) / 2  (Hou, Sterling, Chen & Doolen,
/// Fields Inst. Comm. 6 (1996) 151, with a filter of one cell). `norm2` is |Pi|^2 = Pi_ab Pi_ab of the stress Pi_ab =
/// sum c_a c_b n, and `factor` is 18 sqrt(2) Cs^2 times the unit of n.
template <class V, class Real>
LBM_HD V smagorinsky_relaxation_rate(V norm2, V density, Real omega, Real factor) {
    const Real tau = Real(1) / omega;
    const V root = square_root(tau * tau + factor * (square_root(norm2) / density));
    return Real(2) / (tau + root);
}

/// The same from the non-equilibrium part n.
template <class S, class V, class Real>
LBM_HD V smagorinsky_relaxation_rate(const PairSums<S, V>& n, V density, Real omega, Real factor) {
    V norm2 = V{};
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a <= b) {
                V stress = V{};
                static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
                    accumulate<S::c[2 * p + 1][a] * S::c[2 * p + 1][b]>(stress, n.even[p]);
                });
                constexpr int appearances = a < b ? 2 : 1;  // of a b in the full tensor
                norm2 = norm2 + scaled<appearances>(stress * stress);
            }
        });
    });
    return smagorinsky_relaxation_rate(norm2, density, omega, factor);
}

}  // namespace lbm
