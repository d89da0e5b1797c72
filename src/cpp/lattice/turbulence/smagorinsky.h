// The Smagorinsky model, with the strain rate taken from the local non-equilibrium stress.
#pragma once

#include "../arithmetic.h"

namespace lbm {

/// nu_t = Cs^2 |S| with |S| = sqrt(2 S_ab S_ab) and a filter of one cell (Smagorinsky, Mon. Weather Rev. 91 (1963) 99).
/// The collision knows S by its stress, so that nothing has to be kept from step to step: the viscosity follows within
/// the update of the cell (eddy_viscosity.h).
struct Smagorinsky {
    static constexpr const char* name = "smagorinsky";
    static constexpr bool takes_gradients = false;
};

/// Returns 1 / tau with tau = (tau_0 + sqrt(tau_0^2 + 18 sqrt(2) Cs^2 |Pi| / rho)) / 2  (Hou, Sterling, Chen & Doolen,
/// Fields Inst. Comm. 6 (1996) 151, with a filter of one cell). `norm2` is |Pi|^2 = Pi_ab Pi_ab of the stress Pi_ab =
/// sum c_a c_b n, and `factor` is 18 sqrt(2) Cs^2 times the unit of n.
template <class V, class Real>
LBM_HD V smagorinsky_relaxation_rate(V norm2, V density, Real omega, Real factor) {
    const Real tau = Real(1) / omega;
    const V root = square_root(tau * tau + factor * (square_root(norm2) / density));
    return Real(2) / (tau + root);
}

}  // namespace lbm
