// What the conditions of open faces have in common that compute all populations entering a cell at once: the state of
// the cell after the next step, and the populations that go with it.
//
// The cell lies on the boundary. Its populations f_0 without a normal component and f_out towards the face have
// streamed in, those into the fluid are unknown. Mass and normal momentum leave one relation between the density and
// the velocity U out of the domain that both have after the step (Zou & He, Phys. Fluids 9 (1997) 1591, eqs. 12 and
// 14):
//
//   rho (1 + U) = sum f_0 + 2 sum f_out ,
//
// and with the incompressible equilibrium rho + U in place of rho (1 + U), as the momentum is rho_0 U (inertia.h).
// A condition adds a second one. Given rho and u, the non-equilibrium part bounces back: f_i = f_eq,i + f_neq,opp(i).
#pragma once

#include "../arithmetic.h"
#include "condition.h"

namespace lbm::boundary {

/// The populations f_0 and f_out of a cell after streaming, or those of the last step where none has streamed in; 0 for
/// those into the fluid. All are read at once: on a GPU it takes as long as to read one.
template <class S, class Cell, class Real>
LBM_HD void read_known(const Cell& cell, Real (&known)[S::Q]) {
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        known[i] = cell.inward() * Stencil<S>::component(i, cell.axis()) > 0 ? Real(0) : cell.known(i);
    });
}

/// The sum of f_0 and 2 f_out as a deviation from that at rest, which is 1.
template <class S, class Cell, class Real>
LBM_HD Real outgoing_sum(const Cell& cell, const Real (&known)[S::Q]) {
    Real sum = 0;
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        const int inwards = cell.inward() * Stencil<S>::component(i, cell.axis());
        sum = inwards == 0 ? sum + known[i] : inwards < 0 ? sum + Real(2) * known[i] : sum;
    });
    return sum;
}

/// The velocity U out of the domain for which cs2 (rho - 1) - cs U = characteristic: of the roots of a quadratic
/// equation, which the `compressibility` 0 makes linear, the one that is small.
template <class S, class Real>
LBM_HD Real outward_velocity(Real characteristic, Real sum, Real compressibility) {
    constexpr double inverse_cs2 = 1 / Stencil<S>::cs2;
    const Real inverse_cs = square_root(Real(inverse_cs2));
    const Real density = Real(inverse_cs2) * characteristic;  // its deviation where U = 0
    const Real b = Real(1) + compressibility * density + inverse_cs;
    const Real c = density - sum;
    return Real(-2) * c / (b + square_root(b * b - Real(4) * (compressibility * inverse_cs) * c));
}

/// The deviation of the density from 1 that goes with a velocity out of the domain.
template <class Real>
LBM_HD Real density_deviation(Real outward, Real sum, Real compressibility) {
    return (sum - outward) / (Real(1) + compressibility * outward);
}

/// Sets the populations that enter a cell, as deviations from rest, for a density's deviation from 1 and a velocity:
/// f_eq is the same for i and its opposite but for its odd part w_i rho c_i . u / cs2, rho being the density of
/// inertia.
template <class S, class Cell, class Real>
LBM_HD void bounce_back_nonequilibrium(const Cell& cell, const Real (&known)[S::Q], Real deviation,
                                       const Real (&velocity)[3], Real (&incoming)[S::Q]) {
    const Real inertia = inertia_of_deviation(deviation, cell.compressibility());
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        Real cu = 0;
        for (int d = 0; d < S::D; ++d) {
            cu += Real(Stencil<S>::component(i, d)) * velocity[d];
        }
        incoming[i] = known[Stencil<S>::opposite(i)] + Real(2 * Stencil<S>::w(i) / Stencil<S>::cs2) * (inertia * cu);
    });
}

/// Tangential axis t of a face, in the order x, y, z.
LBM_HD int tangential_axis(int normal, int t) { return t + (t >= normal ? 1 : 0); }

}  // namespace lbm::boundary
