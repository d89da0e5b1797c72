// What is read from one cell between steps: its moments, what walls and outlets send back to it, forces on bodies.
#pragma once

#include "lattice_view.h"
#include "link_data.h"

namespace lbm::backend {

/// Density and velocity of the last step: collision has already added the whole force, the velocity wants half.
template <class S, class Real, class Stored>
LBM_HD void moments_after_collision(const LatticeView<S, Real, Stored>& lattice, int x, int y, int z,
                                    const double (&force)[3], Real& deviation, Real (&u)[3]) {
    deviation = 0;
    u[0] = u[1] = u[2] = 0;
    Real f[S::Q];
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { f[i] = lattice.departed(x, y, z, i); });
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        deviation += f[i];
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { accumulate<S::c[i][d]>(u[d], f[i]); });
    });
    for (int d = 0; d < S::D; ++d) {
        u[d] = (u[d] - Real(0.5) * Real(force[d])) / (Real(1) + deviation);
    }
}

/// Whether a cell still holds a flow; written so that a NaN fails too.
template <class Real>
LBM_HD bool is_sane(Real deviation, Real speed2) {
    return deviation > Real(-1) && deviation < Real(1000) && speed2 < Real(1);
}

/// Serves the links of a cell on which something is computed; `links` are all of the plan's.
template <class S, class Real, class Stored>
LBM_HD void serve_wall_links(LatticeView<S, Real, Stored> lattice, const WallCell& cell, const WallLink* links,
                             const double (&force)[3]) {
    using Kind = WallLink::Kind;
    Real deviation = 0, u[3] = {}, speed2 = 0;
    if (cell.needs_moments) {
        moments_after_collision(lattice, cell.x, cell.y, cell.z, force, deviation, u);
        speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    }
    const Real density = Real(1) + deviation;
    for (int k = cell.first; k < cell.first + cell.count; ++k) {
        const WallLink& link = links[k];
        const Real w = Real(Stencil<S>::w(link.i));
        const Real back = lattice.departed(cell.x, cell.y, cell.z, Stencil<S>::opposite(link.i));
        Real value;
        if (link.kind == Kind::Outflow) {
            const Real inside = lattice.departed(link.from[0], link.from[1], link.from[2], link.from_i);
            value = passed_by_outflow(inside, w, density, Real(link.value));
        } else if (link.kind == Kind::Pressure) {
            Real cu = 0;
            for (int d = 0; d < S::D; ++d) {
                cu += Real(Stencil<S>::component(link.i, d)) * u[d];
            }
            value = reflected_by_pressure(back, w, Real(link.value), cu, speed2);
        } else {
            value = reflected_by_moving_wall(back, Real(link.value), link.kind == Kind::Inlet ? density : Real(1));
        }
        lattice.set_arriving(cell.x, cell.y, cell.z, link.i, value);
    }
}

/// Force on the body of one link, and its torque about a center, by momentum exchange; added to `sum`.
template <class S, class Real, class Stored>
LBM_HD void add_body_force(const LatticeView<S, Real, Stored>& lattice, const BodyLink& link, const double (&center)[3],
                           ForceAndTorque& sum) {
    const Real departed = lattice.departed(link.x, link.y, link.z, Stencil<S>::opposite(link.i));
    const double exchanged = double(departed) + double(reflected_by_moving_wall(departed, Real(link.push), Real(1)));
    double force[3], arm[3];
    for (int d = 0; d < 3; ++d) {
        const int off = Stencil<S>::component(link.off_solid, d);
        force[d] = -off * exchanged;
        arm[d] = link.solid[d] + 0.5 + 0.5 * off - center[d];
        sum.force[d] += force[d];
    }
    for (int d = 0; d < 3; ++d) {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        sum.torque[d] += arm[e] * force[g] - arm[g] * force[e];
    }
}

}  // namespace lbm::backend
