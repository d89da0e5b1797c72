// The interface of collisions, and the steps that all linear relaxations share: each of these is just an operator K.
//
// A collision is a struct with these members:
//   name                         the name in setups,
//   goes_with<S>                 whether it is available for a stencil (see FlowCollision),
//   Parameters<Real>             its parameters, which begin with a Relaxation,
//   parameters<S>(given)         computes them on the host from what the user gives (OneRate has both for the minimum),
//   relax<S>(n, omega, p)        returns -K n as a change, n being pair sums; or, if it is no linear operator on n,
//   collide<S>(h, sums, moments, forced, p, coupling)   which changes all populations of the cell,
//   takes_low_moments            in a collision that takes low_moments(sums) (low_moments.h), of which its mass and
//                                momentum are then made; else absent,
// and it is a member of the list in collisions/all.h. Collisions of multispeed stencils lack the last two members, as
// the update of their model performs the collision, and their parameters need not begin with a Relaxation.
//
// With the true non-equilibrium part n = f - f_eq + S/2 (S is the force's source, zero without a force), every
// relaxation with second-order forcing is f* = f + S - K n: BGK has K = omega, TRT two omegas, MRT K = M^-1 diag(s) M,
// the regularised collision K = 1 - (1 - omega) R. For BGK this is f - omega (f - f_eq) + (1 - omega/2) S, the form of
// Guo, Zheng & Shi (2002); for MRT it is the same forcing in moment space. n carries no mass and no momentum, so K need
// not treat the conserved moments.
#pragma once

#include "cubic_parts.h"
#include "eddy_viscosity.h"
#include "equilibrium.h"
#include "low_moments.h"

namespace lbm {

/// The parameters that all collisions of FlowCollision begin with, in the arithmetic type. All further members are of
/// that type too, so that the host can compute parameters in float64 and convert them (parameters.h).
template <class Real>
struct Relaxation {
    Real omega;               // relaxation rate of the stress, 1 / tau
    Real smagorinsky_factor;  // 18 sqrt(2) Cs^2; 0 without an eddy viscosity
};

/// Computes the Relaxation from the viscosity and the Smagorinsky constant Cs; for the host.
template <class Given>
Relaxation<double> relaxation(const Given& given) {
    constexpr double root_of_two = 1.4142135623730951;
    const double constant = given.at_least_zero("smagorinsky", 0);
    return {1 / (3 * given.positive("viscosity") + 0.5), 18 * root_of_two * constant * constant};
}

/// Base of the collisions for populations that carry mass and momentum, but no energy.
struct FlowCollision {
    template <class S>
    static constexpr bool goes_with = !Stencil<S>::multispeed;
    /// Whether it may relax towards the incompressible equilibrium (inertia.h). Any collision may that takes momentum,
    /// velocity and densities from the moments.
    static constexpr bool has_incompressible = true;
};

/// Base of the collisions with the viscosity, and the Smagorinsky constant, as their only parameters.
struct OneRate : FlowCollision {
    template <class Real>
    using Parameters = Relaxation<Real>;

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        return relaxation(given);
    }
};

/// Parameters without an eddy viscosity; the constant lets the compiler omit its code.
template <class Parameters>
struct Laminar : Parameters {
    static constexpr decltype(Parameters::smagorinsky_factor) smagorinsky_factor = 0;
};

/// The coupling of models whose equilibrium depends on density and velocity only: none.
struct NoCoupling {
    template <int p, class V>
    LBM_HD void apply(V&) const {}
};

/// Performs f* = f + S - K n, with the operator K of the collision and exact conservation of mass and momentum.
template <class S, class Collision, class V, class Parameters, class Coupling>
LBM_HD void collide_linearly(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                             const Parameters& parameters, const Coupling& coupling) {
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

    const V omega =
        stress_relaxation_rate(parameters, m.density, m.unit, [&]() LBM_INLINE_LAMBDA { return stress_norm2<S>(n); });
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
    enforce_conservation<S>(change, half_force);
    apply<S>(change, h);
}

/// The moments that a collision of the populations h takes. Those of one with `takes_low_moments` are made of sums that
/// it needs as well, and without the branch of a division: linear collisions keep it, as eight cells of D3Q27 in
/// float16 leave no register for what a compiler does without.
template <class S, class Collision, class V>
LBM_HD Moments<S, V> moments_for(const V (&h)[S::Q], const PairSums<S, V>& sums, const V (&force)[S::D], bool forced,
                                 Scalar<V> unit, Scalar<V> compressibility) {
    if constexpr (requires { Collision::takes_low_moments; }) {
        const LowMoments<S, V> low = low_moments<S>(sums);
        Moments<S, V> m;
        m.unit = unit;
        m.density_deviation = h[0] + low.zeroth;
        m.density = inertia_of_deviation(m.density_deviation, unit * compressibility);
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { m.momentum[d] = low.first[d]; });
        complete(m, unit * reciprocal(m.density), force, forced);
        return m;
    } else {
        return compute_moments<S>(h[0], sums, force, forced, unit, compressibility);
    }
}

/// Whether a collision is given by a linear operator K on n.
template <class Collision, class S, class V, class Parameters>
constexpr bool is_linear = requires(const PairSums<S, V>& n, V omega, const Parameters& parameters) {
    Collision::template relax<S>(n, omega, parameters);
};

/// Collides the populations h of a cell, which are deviations from rest in units of `m.unit`. A coupling subtracts from
/// n what another field, such as the temperature, adds to the equilibrium.
template <class S, class Collision, class V, class Parameters, class Coupling = NoCoupling>
LBM_HD void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                    const Parameters& parameters, const Coupling& coupling = {}) {
    if constexpr (is_linear<Collision, S, V, Parameters>) {
        collide_linearly<S, Collision>(h, sums, m, forced, parameters, coupling);
    } else {
        Collision::template collide<S>(h, sums, m, forced, parameters, coupling);
    }
}

}  // namespace lbm
