// The moments of a cell: density, momentum and velocity.
#pragma once

#include "inertia.h"
#include "pairs.h"

namespace lbm {

/// The macroscopic quantities of a cell that a collision uses in addition to the populations.
template <class S, class V>
struct Moments {
    V density_deviation;  // rho - 1
    V density;            // of inertia: rho, or 1 with the incompressible equilibrium (inertia.h)
    V momentum[S::D];     // rho u = sum of c f + F / 2  (Guo, Zheng & Shi, PRE 65 (2002) 046308, eq. 3)
    V velocity[S::D];     // u
    V force[S::D];        // F, zero where there is none
    Scalar<V> unit;       // unit of the deviation, the momentum, the force and the populations (storage_unit)
};

/// Completes moments of which `unit`, the density, its deviation and the momentum of the incoming populations are set;
/// `forced` adds half a step of the force. `inverse_density` is the unit over the density.
template <class S, class V>
LBM_HD void complete(Moments<S, V>& m, V inverse_density, const V (&force)[S::D], bool forced) {
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        m.force[d] = force[d] * (Scalar<V>(1) / m.unit);
        if (forced) {
            m.momentum[d] = m.momentum[d] + Scalar<V>(0.5) * m.force[d];
        }
        m.velocity[d] = m.momentum[d] * inverse_density;
    });
}

/// Computes the moments of incoming populations, given as pair sums; `forced` adds half a step of the force. The
/// `compressibility` is 0 with the incompressible equilibrium, whose velocity is the momentum over the reference
/// density.
template <class S, class V>
LBM_HD Moments<S, V> compute_moments(V rest, const PairSums<S, V>& sums, const V (&force)[S::D], bool forced,
                                     Scalar<V> unit, Scalar<V> compressibility) {
    Moments<S, V> m;
    m.unit = unit;
    m.density_deviation = rest + total<0, Stencil<S>::pairs>(sums.even);
    m.density = inertia_of_deviation(m.density_deviation, unit * compressibility);
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        m.momentum[d] = sums.odd[d];
        static_for<Stencil<S>::pairs - S::D>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int p = q + S::D;
            accumulate<S::c[2 * p + 1][d]>(m.momentum[d], sums.odd[p]);
        });
    });
    complete(m, unit / m.density, force, forced);
    return m;
}

/// Sums post-collision populations to the density's deviation from 1 and the momentum, which includes the whole force
/// of the step.
template <class S, class Real>
LBM_HD void add_up(const Real (&f)[S::Q], Real& deviation, Real (&momentum)[3]) {
    deviation = momentum[0] = momentum[1] = momentum[2] = Real{};
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        deviation = deviation + f[i];
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { accumulate<S::c[i][d]>(momentum[d], f[i]); });
    });
}

}  // namespace lbm
