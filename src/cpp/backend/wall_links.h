// What is read from one cell between steps: its moments, what walls and outlets send back to it, forces on bodies.
#pragma once

#include "../lattice/moments.h"
#include "end_sums.h"
#include "lattice_view.h"
#include "link_data.h"

namespace lbm::backend {

/// Of what departed from a cell.
template <class S, class Real, class Stored>
LBM_HD void add_up_cell(const CellView<S, Real, Stored>& cell, Real& deviation, Real (&momentum)[3]) {
    Real f[S::Q];
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { f[i] = cell.departed(i); });
    add_up<S>(f, deviation, momentum);
}

/// Collision has added the whole force, of which the velocity wants half.
template <class Real>
LBM_HD void velocity_of(Real deviation, const Real (&momentum)[3], const double (&force)[3], Real (&u)[3]) {
    for (int d = 0; d < 3; ++d) {
        u[d] = (momentum[d] - Real(0.5) * Real(force[d])) / (Real(1) + deviation);
    }
}

/// Density and velocity of the last step.
template <class S, class Real, class Stored>
LBM_HD void moments_after_collision(const CellView<S, Real, Stored>& cell, const double (&force)[3], Real& deviation,
                                    Real (&u)[3]) {
    Real momentum[3];
    add_up_cell(cell, deviation, momentum);
    velocity_of(deviation, momentum, force, u);
}

/// Whether a cell still holds a flow; written so that a NaN fails too.
template <class Real>
LBM_HD bool is_sane(Real deviation, Real speed2) {
    return deviation > Real(-1) && deviation < Real(1000) && speed2 < Real(1);
}

/// What enters along a link for what departed, density and velocity being those of its cell.
template <class S, class Real>
LBM_HD Real reflected(const WallLink& link, Real departed, Real density, const Real (&u)[3], Real speed2) {
    using Kind = WallLink::Kind;
    const Real value = Real(link.value);
    const Real w = Real(Stencil<S>::w(link.i));
    switch (link.kind) {
        case Kind::Outflow: return passed_by_outflow(departed, w, density, value);
        case Kind::Pressure: {
            Real cu = 0;
            for (int d = 0; d < S::D; ++d) {
                cu += Real(Stencil<S>::component(link.i, d)) * u[d];
            }
            return reflected_by_pressure(departed, w, value, cu, speed2);
        }
        case Kind::Inlet: return reflected_by_moving_wall(departed, value, density);
        default: return reflected_by_moving_wall(departed, value, Real(1));
    }
}

/// Serves the links of a cell on which something is computed; `links` and `places` are all of the plan's, `end_sums`
/// those of the last step if it has kept any.
template <class S, class Real, class Stored>
LBM_HD void serve_wall_links(LatticeView<S, Real, Stored> lattice, const WallCell& cell, const WallLink* links,
                             const LinkPlaces* places, const double (&force)[3], EndSums<Real> end_sums) {
    const Address& address = lattice.address;
    Real deviation = 0, u[3] = {}, speed2 = 0;
    if (cell.needs_moments) {
        Real momentum[3] = {};
        if (end_sums.numbers != nullptr && (cell.x == 0 || cell.x == address.nx - 1)) {
            end_sums.template get<S::D>(address, cell.x == 0 ? 0 : 1, cell.y, cell.z, deviation, momentum);
        } else {
            add_up_cell(lattice.cell(cell.x, cell.y, cell.z), deviation, momentum);
        }
        velocity_of(deviation, momentum, force, u);
        speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    }
    const Real density = Real(1) + deviation;
    constexpr int together = 5;  // loads that wait for the memory at the same time
    for (int first = cell.first; first < cell.first + cell.count; first += together) {
        const int left = cell.first + cell.count - first;
        WallLink batch[together]{};
        LinkPlaces at[together]{};
        Real departed[together]{};
        static_for<together>([&]<int j>() LBM_INLINE_LAMBDA {
            if (j < left) {
                batch[j] = links[first + j];
                at[j] = places[first + j];
                departed[j] = from_storage<Real>(lattice.data[at[j].departed]);
            }
        });
        static_for<together>([&]<int j>() LBM_INLINE_LAMBDA {
            if (j < left) {
                const Real value = reflected<S>(batch[j], departed[j], density, u, speed2);
                lattice.data[at[j].arriving] = Store<Stored>::from(value);
            }
        });
    }
}

/// Force on the body of one link, and its torque about a center, by momentum exchange; added to `sum`.
template <class S, class Real, class Stored>
LBM_HD void add_body_force(const LatticeView<S, Real, Stored>& lattice, const BodyLink& link, const double (&center)[3],
                           ForceAndTorque& sum) {
    const Real departed = lattice.cell(link.x, link.y, link.z).departed(Stencil<S>::opposite(link.i));
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
