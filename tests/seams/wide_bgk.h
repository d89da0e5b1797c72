// A BGK collision for testing the extension point for collisions: it implements collide(), changing the populations
// itself, instead of relax().
#pragma once

#include "../collide.h"

namespace lbm {

struct WideBGK : OneRate {
    static constexpr const char* name = "wide-bgk";

    template <class S, class V, class P, class Coupling>
    LBM_HD static void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                               const P& p, const Coupling& coupling) {
        using R = Scalar<V>;
        const EquilibriumTerms<S, V> terms = equilibrium_terms(m);
        PairSums<S, V> n, source;
        static_for<Stencil<S>::pairs>([&]<int k>() LBM_INLINE_LAMBDA {
            source.odd[k] = forced ? odd_source<S, k>(m) : V{};
            source.even[k] = forced ? even_source<S, k>(m, terms) : V{};
            const V odd = odd_equilibrium<S, k>(terms);
            n.odd[k] = sums.odd[k] - odd + source.odd[k];
            n.even[k] = sums.even[k] - even_equilibrium<S, k>(terms, odd);
            coupling.template apply<k>(n.even[k]);
            n.even[k] = n.even[k] + source.even[k];
        });
        const V omega =
            stress_relaxation_rate(p, m.density, m.unit, [&]() LBM_INLINE_LAMBDA { return stress_norm2<S>(n); });
        PairChange<S, V> change;
        static_for<Stencil<S>::pairs>([&]<int k>() LBM_INLINE_LAMBDA {
            change.even[k] = source.even[k] - R(0.5) * (omega * n.even[k]);
            change.odd[k] = source.odd[k] - R(0.5) * (omega * n.odd[k]);
        });
        V half_force[S::D];
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { half_force[d] = forced ? R(0.5) * m.force[d] : V{}; });
        enforce_conservation<S>(change, half_force);
        apply<S>(change, h);
    }
};

}  // namespace lbm
