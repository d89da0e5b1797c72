// Regularized velocity inlet: prescribes the velocity of the cells at a face, and rebuilds all their populations.
#pragma once

#include "nonequilibrium_inlet.h"
#include "regularize.h"

namespace lbm::boundary {

/// The populations that enter are those of `NonequilibriumInlet`. All populations of the cell are then replaced by the
/// equilibrium of the density and the given velocity, with the stress of the non-equilibrium part alone (regularize.h).
/// A share of the shear stress across the face is removed: at low viscosity it would make oblique sound gain by the
/// inlet. The other stresses stay whole: with less of them waves of one dimension would grow before an outflow.
struct RegularizedInlet {
    static constexpr const char* name = "regularized-inlet";
    static constexpr int precedence = 26;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Extrapolated;
    static constexpr int stored = 0;
    static constexpr int cells_read = 0;
    static constexpr bool replaces = true;
    static constexpr double kept = 0.8;  // share of the shear stress across the face

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
        add_nonequilibrium_stress<S>(m, f, stress);
        for (int t = 0; t < S::D - 1; ++t) {
            const int n = cell.axis(), along = tangential_axis(n, t);
            stress[n][along] = Real(kept) * stress[n][along];
            stress[along][n] = stress[n][along];
        }
        set_to_stress<S>(m, stress, f);
    }
};

}  // namespace lbm::boundary
