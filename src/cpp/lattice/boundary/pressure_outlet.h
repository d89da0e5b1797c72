// Pressure outlet: prescribes the density, and thus the pressure cs2 rho, at a face.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// Anti-bounce-back (Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427, section 5), with the
/// velocity of the cell as that at the face.
struct PressureOutlet {
    static constexpr const char* name = "pressure-outlet";
    static constexpr int precedence = 10;
    static constexpr Value value = Value::Number;  // the density
    static constexpr Beyond beyond = Beyond::Cell;
    static constexpr double preset = 1;
    static constexpr bool needs_moments = true;

    template <class S>
    static double link_value(const Wall& wall, int /*i*/) {
        return wall.value[0];
    }

    template <class S, class Real, class Populations>
    LBM_HD static Real incoming(const Link<Real>& link, const CellMoments<Real>& cell, const Populations& f) {
        Real cu = 0;
        for (int d = 0; d < S::D; ++d) {
            cu += Real(Stencil<S>::component(link.i, d)) * cell.velocity[d];
        }
        const Real even = Real(4.5) * (cu * cu) - Real(1.5) * cell.speed2;
        const Real w = Real(Stencil<S>::w(link.i));
        return Real(2) * w * ((link.value - Real(1)) + cell.inertia_of(link.value) * even) - f.outgoing();
    }
};

}  // namespace lbm::boundary
