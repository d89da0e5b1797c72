// Regularized velocity inlet: prescribes the velocity of the cells at a face, and rebuilds all their populations.
#pragma once

#include "nonequilibrium_inlet.h"
#include "regularize.h"

namespace lbm::boundary {

/// The populations that enter are those of `NonequilibriumInlet`. All populations of the cell are then replaced by the
/// equilibrium of the density and the given velocity, with a share of the stress of the non-equilibrium part alone
/// (regularize.h). Oblique sound would otherwise gain by the inlet at low viscosity. The normal stress stays whole:
/// between this inlet and an outflow waves of one dimension would grow by less of it.
struct RegularizedInlet {
    static constexpr const char* name = "regularized-inlet";
    static constexpr int precedence = 26;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Extrapolated;
    static constexpr int stored = 0;
    static constexpr int cells_read = 0;
    static constexpr bool replaces = true;
    static constexpr double kept = 0.8;  // share of the stress, but for its normal component

    template <class S, class Cell, class Real>
    LBM_HD static void start(const Cell&, Real (&)[1]) {}

    template <class S, class Cell, class Real>
    LBM_HD static void complete(const Cell& cell, Real (&stored)[1], Real (&incoming)[S::Q]) {
        NonequilibriumInlet::complete<S>(cell, stored, incoming);
    }

    template <class S, class Cell, class Real>
    LBM_HD static void replace(const Cell& cell, Real (&f)[S::Q]) {
        BareMoments<Real> m = bare_moments<S>(f, cell.compressibility());
        for (int d = 0; d < S::D; ++d) {
            m.velocity[d] = cell.value(d);
        }
        Real stress[3][3] = {};
        add_stress_beside<S>(m, f, stress);
        keep_share<S>(Real(kept), cell.axis(), stress);
        set_to_stress<S>(m, stress, f);
    }
};

}  // namespace lbm::boundary
