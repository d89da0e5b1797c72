// Populations made anew from moments: those of a boundary cell that has a density, a velocity and a stress, and nothing
// else.
//
// Moments of third and higher order that a boundary gives to its cells come back to it for many steps where the
// collision relaxes them slowly. At viscosities near 0 so does the stress, which a collision reverses and hardly
// reduces, 1 - omega being near -1. Without the former, and with a share of the latter, no wave grows between two
// faces. To keep a share k of the stress in one layer of cells is a viscosity of cs2 (1 / (1 - k (1 - omega)) - 1 / 2)
// there.
#pragma once

#include "../low_order_equilibrium.h"

namespace lbm::boundary {

/// Adds the second moment sum_i c_ia c_ib (f_i - f_eq,i) of what populations have beside the equilibrium of `m`.
template <class S, class Real>
LBM_HD void add_nonequilibrium_stress(const BareMoments<Real>& m, const Real (&f)[S::Q], Real (&stress)[3][3]) {
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        const Real rest = f[i] - low_order_equilibrium<S, i>(m);
        static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<S::D>([&]<int b>()
                                 LBM_INLINE_LAMBDA { accumulate<S::c[i][a] * S::c[i][b]>(stress[a][b], rest); });
        });
    });
}

/// Reduces a stress to a share.
template <class S, class Real>
LBM_HD void keep_share(Real share, Real (&stress)[3][3]) {
    for (int a = 0; a < S::D; ++a) {
        for (int b = 0; b < S::D; ++b) {
            stress[a][b] = share * stress[a][b];
        }
    }
}

/// Sets populations to the equilibrium of second order of `m` and a stress (Latt, Chopard, Malaspinas, Deville &
/// Michler, Phys. Rev. E 77 (2008) 056703).
template <class S, class Real>
LBM_HD void set_to_stress(const BareMoments<Real>& m, const Real (&stress)[3][3], Real (&f)[S::Q]) {
    using T = Stencil<S>;
    Real trace = 0;
    for (int d = 0; d < S::D; ++d) {
        trace += stress[d][d];
    }
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        Real projected = Real(-T::cs2) * trace;
        static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<S::D>([&]<int b>()
                                 LBM_INLINE_LAMBDA { accumulate<S::c[i][a] * S::c[i][b]>(projected, stress[a][b]); });
        });
        f[i] = low_order_equilibrium<S, i>(m) + Real(T::w(i) / (2 * T::cs2 * T::cs2)) * projected;
    });
}

}  // namespace lbm::boundary
