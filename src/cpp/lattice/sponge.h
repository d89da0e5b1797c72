// Sponges: layers of cells before a face that damp what would come back from it.
//
// Before each collision the non-equilibrium part of a cell's populations is reduced by a rate, which acts as a higher
// viscosity and relaxes moments of all orders above the first, so that neither shear nor the moments that a collision
// relaxes slowly reach the face. Mass and momentum stay as they are, so a uniform stream and sound of long waves pass
// unhindered. A pull on the density and velocity towards given ones damps sound as well (Israeli & Orszag, J. Comput.
// Phys. 41 (1981) 115), and a vortex less smoothly.
#pragma once

#include "low_order_equilibrium.h"

namespace lbm {

/// What a sponge does in one cell.
template <class Real>
struct SpongeRates {
    Real damping;                 // share of the non-equilibrium part that is removed in a step
    Real pull;                    // share of the difference from the target that is removed in a step
    Real deviation, velocity[3];  // the target
};

/// Damps the incoming populations of a cell, which are deviations from rest; `compressibility` is as in inertia.h.
template <class S, class Real>
LBM_HD void damp_in_sponge(const SpongeRates<Real>& rates, Real compressibility, Real (&f)[S::Q]) {
    const BareMoments<Real> before = bare_moments<S>(f, compressibility);
    BareMoments<Real> after = before;
    after.deviation = before.deviation + rates.pull * (rates.deviation - before.deviation);
    for (int d = 0; d < S::D; ++d) {
        after.velocity[d] = before.velocity[d] + rates.pull * (rates.velocity[d] - before.velocity[d]);
    }
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        const Real own = low_order_equilibrium<S, i>(before);
        f[i] = f[i] - rates.damping * (f[i] - own);
        if (rates.pull > Real(0)) {
            f[i] = f[i] + (low_order_equilibrium<S, i>(after) - own);
        }
    });
}

}  // namespace lbm
