// Characteristic velocity inlet: lets sound out and draws the velocity to a given one.
#pragma once

#include "open_face.h"
#include "regularize.h"

namespace lbm::boundary {

/// With the velocity U out of the domain, C = cs2 rho - cs U is what a sound wave brings in. It is constant but for a
/// relaxation of U towards the given velocity (Poinsot & Lele, J. Comput. Phys. 101 (1992) 104, section 4); the
/// tangential velocity is the given one. All populations of the cell are then replaced by those of density, velocity
/// and a share of the stress (regularize.h).
struct CharacteristicInlet {
    static constexpr const char* name = "characteristic-inlet";
    static constexpr int precedence = 24;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Extrapolated;
    static constexpr int stored = 0;
    static constexpr int cells_read = 1;
    static constexpr bool replaces = true;
    static constexpr double relaxation = 0.001;  // of the velocity in a step
    static constexpr double kept = 0.88;         // share of the stress

    template <class S, class Cell, class Real>
    LBM_HD static void start(const Cell&, Real (&)[1]) {}

    template <class S, class Cell, class Real>
    LBM_HD static void complete(const Cell& cell, Real (&)[1], Real (&incoming)[S::Q]) {
        const Real cs = square_root(Real(Stencil<S>::cs2)), out = Real(-cell.inward());
        Real velocity[3] = {cell.value(0), cell.value(1), cell.value(2)};
        Real& normal = velocity[cell.axis()];
        const Real before = out * cell.moments(0).velocity[cell.axis()];
        const Real deviation = cell.moments(0).density - Real(1);
        const Real characteristic =
            Real(Stencil<S>::cs2) * deviation - cs * before + Real(relaxation) * cs * (before - out * normal);
        Real known[S::Q];
        read_known<S>(cell, known);
        const Real sum = outgoing_sum<S>(cell, known);
        const Real outward = outward_velocity<S>(characteristic, sum, cell.compressibility());
        normal = out * outward;
        const Real next = density_deviation(outward, sum, cell.compressibility());
        bounce_back_nonequilibrium<S>(cell, known, next, velocity, incoming);
    }

    template <class S, class Cell, class Real>
    LBM_HD static void replace(const Cell& cell, Real (&f)[S::Q]) {
        BareMoments<Real> m = bare_moments<S>(f, cell.compressibility());
        for (int t = 0; t < S::D - 1; ++t) {
            m.velocity[tangential_axis(cell.axis(), t)] = cell.value(tangential_axis(cell.axis(), t));
        }
        Real stress[3][3] = {};
        add_nonequilibrium_stress<S>(m, f, stress);
        keep_share<S>(Real(kept), stress);
        set_to_stress<S>(m, stress, f);
    }
};

}  // namespace lbm::boundary
