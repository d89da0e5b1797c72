// The skeleton that the collisions share which relax n linearly; such a one is only the operator K of one line below.
//
// A collision is a struct with what follows; those of multispeed stencils, which the update of their model knows, have
// all but the last two, and parameters of their own:
//   name                         by which setups call it,
//   goes_with<S>                 the stencils that it has (FlowCollision),
//   Parameters<Real>             which begin with a Relaxation,
//   parameters<S>(given)         made by the host from what the user gives (both of OneRate, where nothing is added),
//   relax<S>(n, omega, p)        -K n as a change, n being pair sums; or, if it is no linear operator on n,
//   collide<S>(h, sums, moments, forced, p, coupling)   which changes all populations of the cell,
// and a place in the list of collisions/all.h.
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

/// What the parameters of every collision begin with, in the arithmetic type. Whatever follows is of that type too, so
/// that the host can make them in one and hand them over in another (parameters.h).
template <class Real>
struct Relaxation {
    Real omega;  // rate of the stress, 1 / tau
    Real eddy;   // 18 sqrt(2) Cs^2 of the Smagorinsky model; 0 switches it off
};

/// From the viscosity and the constant of Smagorinsky, Cs; for the host.
template <class Given>
Relaxation<double> relaxation(const Given& given) {
    constexpr double root_of_two = 1.4142135623730951;
    const double constant = given.at_least_zero("smagorinsky", 0);
    return {1 / (3 * given.positive("viscosity") + 0.5), 18 * root_of_two * constant * constant};
}

/// What collisions share of fluids whose populations carry mass and momentum.
struct FlowCollision {
    template <class S>
    static constexpr bool goes_with = !Stencil<S>::multispeed;
};

/// What such collisions share that take the viscosity and no more.
struct OneRate : FlowCollision {
    template <class Real>
    using Parameters = Relaxation<Real>;

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        return relaxation(given);
    }
};

/// Parameters without an eddy viscosity, which the compiler then leaves out.
template <class Parameters>
struct Laminar : Parameters {
    static constexpr decltype(Parameters::eddy) eddy = 0;
};

/// An equilibrium that depends on nothing but density and velocity.
struct NoCoupling {
    template <int p, class V>
    LBM_HD void apply(V&) const {}
};

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
    enforce_conservation<S>(change, half_force);
    apply<S>(change, h);
}

/// Whether a collision is an operator K on n alone.
template <class Collision, class S, class V, class Parameters>
constexpr bool is_linear = requires(const PairSums<S, V>& n, V omega, const Parameters& parameters) {
    Collision::template relax<S>(n, omega, parameters);
};

/// Collides the populations h of a cell, deviations from rest in units of `m.unit`. A coupling takes what something
/// else adds to the equilibrium off n.
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
