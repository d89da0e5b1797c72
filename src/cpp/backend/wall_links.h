// Operations on single cells between steps: moments, boundary conditions of wall links, forces on bodies.
#pragma once

#include "../lattice/boundary/all.h"
#include "../lattice/moments.h"
#include "lattice_view.h"
#include "link_data.h"
#include "row_end_moments.h"
#include "scaled_values.h"

namespace lbm::backend {

/// Sums the post-collision populations of a cell to its density's deviation from 1 and its momentum.
template <class S, class Real, class Stored>
LBM_FLATTEN LBM_HD void add_up_cell(const CellView<S, Real, Stored>& cell, Real& deviation, Real (&momentum)[3]) {
    Real f[S::Q];
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { f[i] = cell.post_collision(i); });
    add_up<S>(f, deviation, momentum);
}

/// The velocity from the post-collision momentum, which contains the whole force of a step: half of it is subtracted.
/// `inertia` is the density of inertia.
template <class Real>
LBM_HD void velocity_of(Real inertia, const Real (&momentum)[3], const double (&force)[3], Real (&u)[3]) {
    for (int d = 0; d < 3; ++d) {
        u[d] = (momentum[d] - Real(0.5) * Real(force[d])) / inertia;
    }
}

/// The density's deviation and the velocity of a cell after the last step.
template <class S, class Real, class Stored>
LBM_HD void moments_after_collision(const CellView<S, Real, Stored>& cell, const double (&force)[3], Real& deviation,
                                    Real (&u)[3]) {
    Real momentum[3];
    add_up_cell(cell, deviation, momentum);
    velocity_of(inertia_of_deviation(deviation, cell.compressibility), momentum, force, u);
}

/// Whether the density is between 0 and 1001 and the speed below 1. A NaN fails too, so that a diverged cell is found.
template <class Real>
LBM_HD bool state_is_valid(Real deviation, Real speed2) {
    return deviation > Real(-1) && deviation < Real(1000) && speed2 < Real(1);
}

/// The argument `f` of a link formula. The outgoing population has already been loaded; others are read when needed.
template <class S, class Real, class Stored>
struct LinkPopulations {
    const CellView<S, Real, Stored>& cell;
    int i;
    Real outgoing_;

    LBM_HD Real outgoing() const { return outgoing_; }
    LBM_HD Real returning() const { return cell.post_collision(i); }
};

/// Computes the incoming population of a link by the formula of its condition.
template <class S, class Real, class Populations>
LBM_HD Real incoming(const WallLink& link, const boundary::CellMoments<Real>& moments, const Populations& f) {
    const boundary::Link<Real> of{link.i, Real(link.value)};
    Real value = 0;
    for_types(boundary::Conditions{}, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        if constexpr (boundary::has_formula<Condition> && !Stencil<S>::multispeed) {
            if (link.condition == position_in<boundary::Conditions, Condition>) {
                value = Condition::template incoming<S>(of, moments, f);
            }
        }
    });
    return value;
}

/// The same of a link of a cell that keeps moments, whose wall may be at a known distance. `f` has `streamed()` too,
/// what has just streamed in against the population; the result is linear in it.
template <class S, class Real, class Populations>
LBM_HD Real incoming_of_cut(const WallLink& link, const boundary::LinearWeights& weights,
                            const boundary::CellMoments<Real>& moments, const Populations& f) {
    if (link.condition != position_in<boundary::Conditions, boundary::MovingWall>) {
        return incoming<S>(link, moments, f);
    }
    const boundary::LinearWall<Real> wall{Real(weights.returning), Real(weights.streamed),
                                          Real(weights.momentum * link.value)};
    return wall.incoming(f.outgoing(), f.returning(), f.streamed());
}

/// Sets the moments that formulas read from the sums of a cell's post-collision populations, all but the
/// compressibility.
template <class Real>
LBM_HD void set_cell_moments(boundary::CellMoments<Real>& moments, Real deviation, const Real (&momentum)[3],
                             const double (&force)[3]) {
    Real(&u)[3] = moments.velocity;
    velocity_of(inertia_of_deviation(deviation, moments.compressibility), momentum, force, u);
    moments.speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    moments.density = Real(1) + deviation;
}

/// The moments that the formulas of a cell's links read; from `end_sums` if the last step has stored them.
template <class S, class Real, class Stored>
LBM_HD boundary::CellMoments<Real> link_moments(const LatticeView<S, Real, Stored>& lattice, const WallCell& cell,
                                                const double (&force)[3], EndSums<Real> end_sums) {
    const Address& address = lattice.address;
    boundary::CellMoments<Real> moments{};
    moments.compressibility = lattice.compressibility;
    if (cell.needs_moments) {
        Real deviation = 0, momentum[3] = {};
        if (end_sums.numbers != nullptr && (cell.x == 0 || cell.x == address.nx - 1)) {
            end_sums.template get<S::D>(address, cell.x == 0 ? 0 : 1, cell.y, cell.z, deviation, momentum);
        } else {
            add_up_cell(lattice.cell(cell.x, cell.y, cell.z), deviation, momentum);
        }
        set_cell_moments(moments, deviation, momentum, force);
    }
    return moments;
}

/// Computes the incoming populations of a wall cell's links; `links` and `places` are the whole lists of the plan, and
/// `values` sets the values of links that change in time.
template <class S, class Real, class Stored, class Values>
LBM_HD void serve_wall_links(LatticeView<S, Real, Stored> lattice, const WallCell& cell, const WallLink* links,
                             const LinkOffsets* places, const double (&force)[3], EndSums<Real> end_sums,
                             const Values& values) {
    const boundary::CellMoments<Real> moments = link_moments(lattice, cell, force, end_sums);
    const CellView<S, Real, Stored> view = lattice.cell(cell.x, cell.y, cell.z);
    constexpr int together = Values::together;  // number of loads in flight
    for (int first = cell.first; first < cell.first + cell.count; first += together) {
        const int left = cell.first + cell.count - first;
        WallLink batch[together]{};
        LinkOffsets at[together]{};
        Real outgoing[together]{};
        static_for<together>([&]<int j>() LBM_INLINE_LAMBDA {
            if (j < left) {
                batch[j] = links[first + j];
                at[j] = places[first + j];
                outgoing[j] = from_storage<Real>(lattice.data[at[j].outgoing]);
            }
        });
        static_for<together>([&]<int j>() LBM_INLINE_LAMBDA {
            if (j < left) {
                values.set(batch[j]);
                const LinkPopulations<S, Real, Stored> f{view, batch[j].i, outgoing[j]};
                lattice.data[at[j].incoming] = Store<Stored>::from(incoming<S>(batch[j], moments, f));
            }
        });
    }
}

/// Computes the incoming population of a cut link.
template <class Real, class Stored>
LBM_HD void serve_cut_link(Stored* data, const boundary::LinearWall<Real>& wall, const CutPlaces& at) {
    data[at.incoming] =
        Store<Stored>::from(wall.incoming(from_storage<Real>(data[at.outgoing]), from_storage<Real>(data[at.returning]),
                                          from_storage<Real>(data[at.streamed])));
}

/// The wall of a cut link in the arithmetic type.
template <class Real>
LBM_HD boundary::LinearWall<Real> rounded(const boundary::LinearWall<double>& wall) {
    return {Real(wall.returning), Real(wall.streamed), Real(wall.value)};
}

/// The same with its value in the next update, from that of the plan or by factors.
template <class Real>
LBM_HD boundary::LinearWall<Real> wall_now(const CutLink& link, const SteadyValues&) {
    return rounded<Real>(link.wall);
}
template <class Real, class S>
LBM_HD boundary::LinearWall<Real> wall_now(const CutLink& link, const ScaledValues<S>& values) {
    boundary::LinearWall<Real> wall = rounded<Real>(link.wall);
    if (link.scaled >= 0) {
        wall.value = Real(link.momentum_weight * values.momentum(link));
    }
    return wall;
}

/// Computes the incoming populations of both sides of a wall between fluid cells, `walls[0]` and `walls[1]`.
template <class Real, class Stored>
LBM_HD void serve_sheet_link(Stored* data, const boundary::LinearWall<Real> (&walls)[2], const SheetPlaces& at) {
    Real incoming[2];
    static_for<2>([&]<int k>() LBM_INLINE_LAMBDA {
        incoming[k] =
            walls[k].incoming(from_storage<Real>(data[at.incoming[1 - k]]), from_storage<Real>(data[at.returning[k]]),
                              from_storage<Real>(data[at.streamed[k]]));
    });
    static_for<2>([&]<int k>() LBM_INLINE_LAMBDA { data[at.incoming[k]] = Store<Stored>::from(incoming[k]); });
}

/// What comes off a wall at a known distance, computed anew for the force: between fluid cells its place holds a
/// population of the other cell until the next update, and where the state is moments it has none. `streamed()` is what
/// streams in against the population.
template <class S, class Real, class Cell, class Streamed>
LBM_HD Real off_cut(const Cell& cell, const BodyLink& link, Real outgoing, const Streamed& streamed) {
    if (link.distance == 0.5) {
        return boundary::bounced_back(outgoing, Real(link.wall_momentum));
    }
    boundary::LinearWall<Real> wall{};
    for_types(boundary::CutWalls{}, [&](auto member) LBM_INLINE_LAMBDA {
        using Wall = typename decltype(member)::type;
        if (link.scheme == position_in<boundary::CutWalls, Wall>) {
            const boundary::LinearWeights weights = Wall::weights(link.distance);
            wall = {Real(weights.returning), Real(weights.streamed), Real(weights.momentum * link.wall_momentum)};
        }
    });
    return wall.incoming(outgoing, cell.post_collision(link.i), streamed());
}

/// Adds the force on a body by one link, and its torque about a center, to `sum`, by the momentum exchange method. Of a
/// body whose distances are known it is Galilean invariant: momentum is measured relative to the wall, with what comes
/// off it (Wen, Zhang, Tu, Wang & Fang, J. Comput. Phys. 266 (2014) 161), which boundaries have supplied. A cell whose
/// state is moments knows of no population that comes in, but where those that its formulas read stream from.
template <class S, class Real, class Cell>
LBM_HD void add_force_of_cell(const Cell& cell, const BodyLink& link, const double (&center)[3], ForceAndTorque& sum) {
    const Real outgoing = cell.post_collision(Stencil<S>::opposite(link.i));
    Real incoming = boundary::bounced_back(outgoing, Real(link.wall_momentum));
    if constexpr (!Stencil<S>::multispeed && requires { cell.post_streaming(0); }) {  // others take no such bodies
        if (link.is_cut) {
            incoming = !link.is_sheet ? cell.post_streaming(link.i) : off_cut<S>(cell, link, outgoing, [&]() {
                return cell.post_streaming(Stencil<S>::opposite(link.i));
            });
        }
    } else if constexpr (requires { cell.streamed(link); }) {
        if (link.is_cut) {
            incoming = off_cut<S>(cell, link, outgoing, [&]() { return cell.streamed(link); });
        }
    }
    const double exchanged = double(outgoing) + double(incoming);
    const double lost = link.is_cut ? double(outgoing) - double(incoming) : 0;
    double c[3], arm[3];
    for (int d = 0; d < 3; ++d) {
        c[d] = Stencil<S>::component(link.off_solid, d);
        arm[d] = link.solid[d] + 0.5 + (1 - link.distance) * c[d] - center[d];
    }
    sum.add(c, exchanged, lost, link.velocity, arm);
}
template <class S, class Real, class Stored>
LBM_HD void add_body_force(const LatticeView<S, Real, Stored>& lattice, const BodyLink& link, const double (&center)[3],
                           ForceAndTorque& sum) {
    add_force_of_cell<S, Real>(lattice.cell(link.x, link.y, link.z), link, center, sum);
}

}  // namespace lbm::backend
