// Regularized velocity inlet: prescribes the velocity of the cells at a face, and rebuilds all their populations.
#pragma once

#include "../low_order_equilibrium.h"
#include "nonequilibrium_inlet.h"

namespace lbm::boundary {

/// The populations that enter are those of `NonequilibriumInlet`. All populations of the cell are then replaced by the
/// equilibrium of the density and the given velocity, with the stress of the non-equilibrium part alone (Latt,
/// Chopard, Malaspinas, Deville & Michler, Phys. Rev. E 77 (2008) 056703).
struct RegularizedInlet {
    static constexpr const char* name = "regularized-inlet";
    static constexpr int precedence = 26;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Extrapolated;
    static constexpr int stored = 0;
    static constexpr int cells_read = 0;
    static constexpr bool replaces = true;

    template <class S, class Cell, class Real>
    LBM_HD static void start(const Cell&, Real (&)[1]) {}

    template <class S, class Cell, class Real>
    LBM_HD static void complete(const Cell& cell, Real (&stored)[1], Real (&incoming)[S::Q]) {
        NonequilibriumInlet::complete<S>(cell, stored, incoming);
    }

    template <class S, class Cell, class Real>
    LBM_HD static void replace(const Cell& cell, Real (&f)[S::Q]) {
        using T = Stencil<S>;
        BareMoments<Real> m = bare_moments<S>(f, cell.compressibility());
        for (int d = 0; d < S::D; ++d) {
            m.velocity[d] = cell.value(d);
        }
        Real equilibrium[S::Q], stress[3][3] = {};
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            equilibrium[i] = low_order_equilibrium<S, i>(m);
            const Real rest = f[i] - equilibrium[i];
            static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
                static_for<S::D>([&]<int b>()
                                     LBM_INLINE_LAMBDA { accumulate<S::c[i][a] * S::c[i][b]>(stress[a][b], rest); });
            });
        });
        Real trace = 0;
        for (int d = 0; d < S::D; ++d) {
            trace += stress[d][d];
        }
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            Real projected = Real(-T::cs2) * trace;
            static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
                static_for<S::D>(
                    [&]<int b>() LBM_INLINE_LAMBDA { accumulate<S::c[i][a] * S::c[i][b]>(projected, stress[a][b]); });
            });
            f[i] = equilibrium[i] + Real(T::w(i) / (2 * T::cs2 * T::cs2)) * projected;
        });
    }
};

}  // namespace lbm::boundary
