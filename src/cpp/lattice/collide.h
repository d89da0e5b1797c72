// The skeleton that every collision shares; a collision itself is only the operator K of one line below.
//
// With n = f - f_eq + S/2, the true non-equilibrium part (S is the force's source, zero without a force), every
// relaxation with second-order forcing reads f* = f + S - K n: BGK has K = omega, TRT two omegas, MRT
// K = M^-1 diag(s) M, the regularised collision K = 1 - (1 - omega) R. For BGK this is f - omega (f - f_eq)
// + (1 - omega/2) S, the form of Guo, Zheng & Shi (2002); for MRT it is the same forcing in moment space.
// n carries no mass and no momentum, so K need not treat the conserved moments.
#pragma once

#include "cubic_parts.h"
#include "eddy_viscosity.h"
#include "equilibrium.h"

namespace lbm {

/// Rates of a collision, in the arithmetic type; made once by the host.
template <class Real>
struct CollisionParameters {
    Real omega;                     // rate of the stress, 1 / tau
    Real omega_odd;                 // TRT: rate of the odd parts
    Real magic;                     // TRT: (1/omega - 1/2) (1/omega_odd - 1/2)
    Real eddy;                      // 18 sqrt(2) Cs^2 of the Smagorinsky model; 0 switches it off
    CubicRates<Real> moment_rates;  // MRT: -K
    CubicRates<Real> stress_rates;  // MRT: what -K grows by with the rate of the stress
};

/// Parameters without an eddy viscosity, which the compiler then leaves out.
template <class Real>
struct LaminarParameters : CollisionParameters<Real> {
    static constexpr Real eddy = 0;
};

/// The parameters in another arithmetic type.
template <class To, class From>
LBM_HD CollisionParameters<To> converted(const CollisionParameters<From>& p) {
    CollisionParameters<To> out{To(p.omega), To(p.omega_odd), To(p.magic), To(p.eddy), {}, {}};
    const auto convert = [](From x, From) LBM_INLINE_LAMBDA { return To(x); };
    combine(out.moment_rates, p.moment_rates, p.moment_rates, convert);
    combine(out.stress_rates, p.stress_rates, p.stress_rates, convert);
    return out;
}

/// An equilibrium that depends on nothing but density and velocity.
struct NoCoupling {
    template <int p, class V>
    LBM_HD void apply(V&) const {}
};

/// `Parameters` are CollisionParameters. `Collision::relax` takes n as pair sums and gives -K n as a change. A coupling
/// takes what something else adds to the equilibrium off n.
template <class S, class Collision, class V, class Parameters, class Coupling = NoCoupling>
LBM_HD void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                    const Parameters& parameters, const Coupling& coupling = {}) {
    const EquilibriumTerms<S, V> terms = equilibrium_terms(m);
    PairSums<S, V> n;
    static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
        const V odd = odd_equilibrium<S, p>(terms);
        n.odd[p] = sums.odd[p] - odd;
        n.even[p] = sums.even[p] - even_equilibrium<S, p>(terms, odd);
        coupling.template apply<p>(n.even[p]);
    });
    if (forced) {
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            n.odd[p] = n.odd[p] + odd_source<S, p>(m);
            n.even[p] = n.even[p] + even_source<S, p>(m, terms);
        });
    }

    V omega = V{} + parameters.omega;
    if (parameters.eddy > 0) {
        omega = eddy_relaxation_rate<S>(n, m.density, parameters.omega, parameters.eddy * m.unit);
    }
    PairChange<S, V> change = Collision::template relax<S>(n, omega, parameters);
    V half_force[S::D];
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { half_force[d] = V{}; });
    if (forced) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { half_force[d] = Scalar<V>(0.5) * m.force[d]; });
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            change.even[p] = change.even[p] + even_source<S, p>(m, terms);
            change.odd[p] = change.odd[p] + odd_source<S, p>(m);
        });
    }
    close_conservation<S>(change, half_force);
    apply<S>(change, h);
}

}  // namespace lbm
