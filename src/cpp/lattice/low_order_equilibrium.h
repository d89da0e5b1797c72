// The equilibrium of second order as a function of one velocity, for the few cells that boundaries treat between steps.
#pragma once

#include "arithmetic.h"
#include "inertia.h"
#include "stencil.h"

namespace lbm {

/// Density and velocity of a cell's populations, which are deviations from rest. A force is left out, so that what the
/// equilibrium of these moments replaces keeps its mass and momentum.
template <class Real>
struct BareMoments {
    Real deviation;  // of the density from 1
    Real velocity[3];
    Real compressibility;  // 0 for the incompressible equilibrium

    LBM_HD Real inertia() const { return inertia_of_deviation(deviation, compressibility); }
};

template <class S, class Real>
LBM_HD BareMoments<Real> bare_moments(const Real (&f)[S::Q], Real compressibility) {
    BareMoments<Real> m{};
    m.compressibility = compressibility;
    Real momentum[3] = {};
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        m.deviation += f[i];
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { accumulate<S::c[i][d]>(momentum[d], f[i]); });
    });
    for (int d = 0; d < S::D; ++d) {
        m.velocity[d] = momentum[d] / m.inertia();
    }
    return m;
}

/// Population i of the equilibrium of second order (Qian, d'Humieres & Lallemand, Europhys. Lett. 17 (1992) 479), as a
/// deviation from rest.
template <class S, int i, class Real>
LBM_HD Real low_order_equilibrium(const BareMoments<Real>& m) {
    constexpr double inverse_cs2 = 1 / Stencil<S>::cs2;
    Real cu = 0, u2 = 0;
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        accumulate<S::c[i][d]>(cu, m.velocity[d]);
        u2 += m.velocity[d] * m.velocity[d];
    });
    cu = Real(inverse_cs2) * cu;
    const Real moving = cu + Real(0.5) * (cu * cu - Real(inverse_cs2) * u2);
    return Real(Stencil<S>::w(i)) * (m.deviation + m.inertia() * moving);
}

}  // namespace lbm
