// The second-order equilibrium and the body-force source, over pairs of opposite velocities.
#pragma once

#include "moments.h"

namespace lbm {

constexpr int shells = 4;  // groups of velocities of equal squared speed, 0 to 3

/// Products that the pairs of one shell, velocities of equal speed, share.
template <class S, class V>
struct EquilibriumTerms {
    V isotropic[shells];       // 2 w (rho - 1 - rho u^2 / (2 cs2)); but for rho - 1, rho is the density of inertia
    V momentum[shells][S::D];  // 2 w / cs2 rho u
    V velocity[S::D];          // u / (2 cs2)
};

template <class S, class V>
LBM_HD EquilibriumTerms<S, V> equilibrium_terms(const Moments<S, V>& m) {
    using R = Scalar<V>;
    EquilibriumTerms<S, V> terms;
    V energy = V{};
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        terms.velocity[d] = R(1.5) * m.velocity[d];
        energy = energy + m.momentum[d] * terms.velocity[d];
    });
    const V isotropic = m.density_deviation - energy;
    static_for<shells>([&]<int s>() LBM_INLINE_LAMBDA {
        if constexpr (s > 0 && S::shell_weight[s] > 0) {
            terms.isotropic[s] = R(2 * S::shell_weight[s]) * isotropic;
            static_for<S::D>(
                [&]<int d>() LBM_INLINE_LAMBDA { terms.momentum[s][d] = R(6 * S::shell_weight[s]) * m.momentum[d]; });
        }
    });
    return terms;
}

template <class S>
constexpr int shell_of_pair(int p) {
    return Stencil<S>::squared_speed(2 * p + 1);
}

/// The difference of f_eq over pair p (Qian, d'Humieres & Lallemand, EPL 17 (1992) 479, eq. 6).
template <class S, int p, class V>
LBM_HD V odd_equilibrium(const EquilibriumTerms<S, V>& terms) {
    return along_pair<S, p>(terms.momentum[shell_of_pair<S>(p)]);
}

/// The sum of f_eq - w over pair p. Its quadratic term is the difference `odd` times c . u / (2 cs2).
template <class S, int p, class V>
LBM_HD V even_equilibrium(const EquilibriumTerms<S, V>& terms, V odd) {
    return terms.isotropic[shell_of_pair<S>(p)] + odd * along_pair<S, p>(terms.velocity);
}

/// The even part of the force's source S for pair p, equal for both velocities, without any relaxation prefactor (Guo,
/// Zheng & Shi, PRE 65 (2002) 046308, eq. 20).
template <class S, int p, class V>
LBM_HD V even_source(const Moments<S, V>& m, const EquilibriumTerms<S, V>& terms) {
    using R = Scalar<V>;
    V uf = m.velocity[0] * m.force[0];
    static_for<S::D - 1>([&]<int d>() LBM_INLINE_LAMBDA { uf = uf + m.velocity[d + 1] * m.force[d + 1]; });
    const V along = along_pair<S, p>(terms.velocity) * along_pair<S, p>(m.force);
    return R(Stencil<S>::w(2 * p + 1)) * (R(6) * along - R(3) * uf);
}

/// The odd part of the source, which has opposite signs for the two velocities of pair p.
template <class S, int p, class V>
LBM_HD V odd_source(const Moments<S, V>& m) {
    return Scalar<V>(3 * Stencil<S>::w(2 * p + 1)) * along_pair<S, p>(m.force);
}

}  // namespace lbm
