// What a body that moves does in a step to the populations that come in around it: walls of the links that its surface
// cuts, and the cells that it covers and uncovers. Which they are is found anew in each step, from its shape and its
// poses; there are no lists.
#pragma once

#include "moving_body.h"
#include "wall_links.h"

namespace lbm::backend {

/// A cell of the box about a body.
struct MovingCell {
    Index at[3];   // in the domain, or in one of its periodic images
    int local[3];  // in the block
    bool is_in_block;
};

/// The body of one step, next to the cells of one block.
template <class S, class Real, class Stored>
class MovingCells {
public:
    LBM_HD MovingCells(const LatticeView<S, Real, Stored>& lattice, const MovingBody& body, const MovingPlace& place,
                       const double* factors)
        : lattice_(lattice), body_(body), place_(place), step_{factors + body.series} {}

    /// The cell of an index in the box, x fastest.
    LBM_HD MovingCell cell(Index index) const {
        Index row = 0, layer = 0;
        if (index >> 32 == 0) {  // which a GPU divides far faster
            row = UInt32(index) / UInt32(body_.size[0]);
            layer = UInt32(row) / UInt32(body_.size[1]);
        } else {
            row = index / body_.size[0];
            layer = row / body_.size[1];
        }
        const Index k[3] = {index - row * body_.size[0], row - layer * body_.size[1], layer};
        const int size[3] = {lattice_.address.nx, lattice_.address.ny, lattice_.address.nz};
        MovingCell cell{};
        cell.is_in_block = true;
        for (int d = 0; d < 3; ++d) {
            const Index n = place_.domain[d];
            cell.at[d] = Index(step_.corner(d)) + k[d];
            Index in_domain = cell.at[d];
            if (place_.periodic[d] && (in_domain < 0 || in_domain >= n)) {
                in_domain = in_domain % n;
                in_domain = in_domain < 0 ? in_domain + n : in_domain;
            }
            const Index local = in_domain - place_.offset[d];
            cell.is_in_block = cell.is_in_block && in_domain >= 0 && in_domain < n && local >= 0 && local < size[d];
            cell.local[d] = cell.is_in_block ? int(local) : 0;
        }
        return cell;
    }

    /// Calls visit(i, outgoing, incoming, velocity of the wall, the point where it cuts the link) for each link along
    /// which population i comes off the body into the cell, with its populations. Reads of the cell's own, of which it
    /// sets none.
    template <class Visit>
    LBM_HD void for_links(const MovingCell& cell, Visit&& visit) const {
        double x[3], now[3], before[3];
        centre(cell, x);
        to_body(step_.pose(), x, now);
        if (is_far(now) || is_inside(body_.shape, now)) {
            return;
        }
        to_body(step_.pose_before(), x, before);
        if (is_inside(body_.shape, before)) {
            return;
        }
        const CellView<S, Real, Stored> view = lattice_.cell(cell.local[0], cell.local[1], cell.local[2]);
        unsigned solid = 0, solid_now = 0;  // bit i: the neighbour from which population i comes is or was in the body
        for (int i = 1; i < S::Q; ++i) {
            double p[3];
            if (has_neighbor(cell, i, -1)) {
                const bool is_in = is_inside_at(step_.pose(), x, i, p);
                const bool was_in = !is_in && is_inside_at(step_.pose_before(), x, i, p);
                solid_now |= is_in ? 1U << i : 0U;
                solid |= is_in || was_in ? 1U << i : 0U;
            }
        }
        if (solid == 0) {
            return;
        }
        Real deviation = 0;
        for (int k = 0; k < S::Q; ++k) {
            deviation += view.post_collision(k);
        }
        const Real inertia = inertia_of_deviation(deviation, view.compressibility);
        // One link after the other of the cell's own, so that the threads of a warp cut theirs together.
        int i = 0;
        for (unsigned left = solid; left != 0; left &= left - 1) {
            do {
                ++i;
            } while ((solid >> i & 1U) == 0);
            const bool is_in = (solid_now >> i & 1U) != 0;
            double from[3], end[3];
            for (int d = 0; d < 3; ++d) {
                from[d] = is_in ? now[d] : before[d];
            }
            neighbor_in_body(is_in ? step_.pose() : step_.pose_before(), x, i, end);
            const double q = cut(from, end);
            double point[3], velocity[3], cu = 0;
            for (int d = 0; d < 3; ++d) {
                point[d] = x[d] - q * Stencil<S>::component(i, d);
            }
            for (int d = 0; d < 3; ++d) {
                velocity[d] = d < S::D ? step_.velocity(d, point) : 0.0;
                cu += Stencil<S>::component(i, d) * velocity[d];
            }
            // The density is that of the cell, so that a wall takes the mass that it covers.
            const Real wall = Real(2 * Stencil<S>::w(i) * cu / Stencil<S>::cs2) * inertia;
            const Real outgoing = view.post_collision(Stencil<S>::opposite(i));
            Real incoming = boundary::bounced_back(outgoing, wall);
            // Whether what streams in towards the wall comes from a cell that the body neither is nor was in.
            if (has_neighbor(cell, i, 1) && (solid >> Stencil<S>::opposite(i) & 1U) == 0) {
                const boundary::LinearWeights weights = boundary::InterpolatedWall::weights(q);
                const boundary::LinearWall<Real> at_cut{Real(weights.returning), Real(weights.streamed),
                                                        Real(weights.momentum) * wall};
                incoming =
                    at_cut.incoming(outgoing, view.post_collision(i), view.post_streaming(Stencil<S>::opposite(i)));
            }
            visit(i, outgoing, incoming, velocity, point);
        }
    }

    /// Sets the populations that come in off the body.
    LBM_HD void apply_walls(const MovingCell& cell) const {
        const CellView<S, Real, Stored> view = lattice_.cell(cell.local[0], cell.local[1], cell.local[2]);
        for_links(cell, [&](int i, Real, Real incoming, const double(&)[3], const double(&)[3])
                            LBM_INLINE_LAMBDA { view.set_post_streaming(i, incoming); });
    }

    /// Adds the force on the body by a cell's links, and its torque about a point, as add_body_force does for a body
    /// at rest. `moves`: the point moves with the body, and is given by the distances from that about which it turns.
    LBM_HD void add_force(const MovingCell& cell, const double (&center)[3], bool moves, ForceAndTorque& sum) const {
        for_links(cell, [&](int i, Real outgoing, Real incoming, const double(&velocity)[3],
                            const double(&point)[3]) LBM_INLINE_LAMBDA {
            const double exchanged = double(outgoing) + double(incoming), lost = double(outgoing) - double(incoming);
            double force[3], arm[3];
            for (int d = 0; d < 3; ++d) {
                force[d] = -Stencil<S>::component(i, d) * exchanged - velocity[d] * lost;
                arm[d] = d < S::D ? point[d] - center[d] - (moves ? step_.origin()[d] : 0.0) : 0.0;
                sum.force[d] += force[d];
            }
            for (int d = 0; d < 3; ++d) {
                const int e = (d + 1) % 3, g = (d + 2) % 3;
                sum.torque[d] += arm[e] * force[g] - arm[g] * force[e];
            }
        });
    }

    /// Sets all populations that come into a cell of the body, or into one that it has just left.
    LBM_HD void fill(const MovingCell& cell) const {
        double x[3], own[3], u[3];
        centre(cell, x);
        to_body(step_.pose(), x, own);
        if (is_far(own)) {
            return;
        }
        const bool is_covered = is_inside(body_.shape, own);
        unsigned known = 0;
        if (!is_covered) {
            to_body(step_.pose_before(), x, own);
            if (!is_inside(body_.shape, own)) {
                return;
            }
            for (int i = 1; i < S::Q; ++i) {
                double end[3];
                const bool comes_from_fluid =
                    has_neighbor(cell, i, -1) && !is_inside_at(step_.pose_before(), x, i, end);
                known |= comes_from_fluid ? 1U << i : 0U;
            }
        }
        for (int d = 0; d < 3; ++d) {
            u[d] = d < S::D ? step_.velocity(d, x) : 0.0;
        }
        refill(lattice_.cell(cell.local[0], cell.local[1], cell.local[2]), u, known);
    }

private:
    LBM_HD static void centre(const MovingCell& cell, double (&x)[3]) {
        for (int d = 0; d < 3; ++d) {
            x[d] = d < S::D ? double(cell.at[d]) + 0.5 : 0.0;
        }
    }

    LBM_HD void to_body(const double* pose, const double (&x)[3], double (&p)[3]) const {
        const double away[3] = {x[0] - pose[9], x[1] - pose[10], x[2] - pose[11]};
        for (int d = 0; d < 3; ++d) {
            p[d] = pose[d] * away[0] + pose[3 + d] * away[1] + pose[6 + d] * away[2] + body_.center[d];
        }
    }

    /// Whether a cell is so far away that neither it nor a neighbour is in the body, at t or at t + 1.
    LBM_HD bool is_far(const double (&p)[3]) const { return shape::squared_distance(body_.ball, p) > body_.ball[3]; }

    /// Where the neighbour from which population i comes is in the frame of the body.
    LBM_HD void neighbor_in_body(const double* pose, const double (&x)[3], int i, double (&p)[3]) const {
        double there[3];
        for (int d = 0; d < 3; ++d) {
            there[d] = x[d] - Stencil<S>::component(i, d);
        }
        to_body(pose, there, p);
    }
    LBM_HD bool is_inside_at(const double* pose, const double (&x)[3], int i, double (&p)[3]) const {
        neighbor_in_body(pose, x, i, p);
        return is_inside(body_.shape, p);
    }

    /// Whether there is a neighbour along `side` times velocity i, or a face lies between that is not periodic.
    LBM_HD bool has_neighbor(const MovingCell& cell, int i, int side) const {
        bool found = true;
        for (int d = 0; d < S::D; ++d) {
            const Index at = cell.at[d] + side * Stencil<S>::component(i, d);
            found = found && (place_.periodic[d] || (at >= 0 && at < place_.domain[d]));
        }
        return found;
    }

    /// Where the line from a point outside to one inside goes in, as a fraction of it: by halving, which takes no more
    /// than is_inside() of any shape, and 2^-23 is far below what the wall's place matters.
    LBM_HD double cut(const double (&from)[3], const double (&to)[3]) const {
        double outside = 0, inside = 1;
        for (int k = 0; k < 22; ++k) {
            const double middle = 0.5 * (outside + inside);
            const double p[3] = {from[0] + middle * (to[0] - from[0]), from[1] + middle * (to[1] - from[1]),
                                 from[2] + middle * (to[2] - from[2])};
            const bool is_in = is_inside(body_.shape, p);
            inside = is_in ? middle : inside;
            outside = is_in ? outside : middle;
        }
        return 0.5 * (outside + inside);
    }

    /// Sets the populations of a cell that are not among the `known` ones, of bit i, to those of the wall's velocity
    /// u. The density is that of the known ones and their reflections, or 1; a population whose opposite is known has
    /// its part that is not of equilibrium (Zou & He, Phys. Fluids 9 (1997) 1591; with the wall's velocity as the
    /// target of cells that a body leaves: Dorschner, Chikatamarla, Boesch & Karlin, J. Comput. Phys. 295 (2015) 340).
    LBM_HD static void refill(const CellView<S, Real, Stored>& view, const double (&u)[3], unsigned known) {
        using T = Stencil<S>;
        const double u2 = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / T::cs2;
        double mass = 0, weight = 0;
        for (int i = 1; i < S::Q; i += 2) {
            const bool has = (known >> i & 1U) != 0, has_opposite = (known >> (i + 1) & 1U) != 0;
            if (has || has_opposite) {
                const double w = T::w(i), cu = projected(i, u);
                const double f = has ? double(view.post_streaming(i)) : 0.0;
                const double opposite = has_opposite ? double(view.post_streaming(i + 1)) : 0.0;
                const double both = has && has_opposite ? f + opposite
                                    : has               ? 2 * (f - w * cu)
                                                        : 2 * (opposite + w * cu);
                mass += both - w * (cu * cu - u2);
                weight += 2 * w;
            }
        }
        const double deviation = weight > 0 ? mass / weight : 0;
        const double inertia = inertia_of_deviation(deviation, double(view.compressibility));
        view.set_post_streaming(0, Real(T::w(0) * (deviation - 0.5 * inertia * u2)));
        for (int i = 1; i < S::Q; ++i) {
            const int opposite = T::opposite(i);
            if ((known >> i & 1U) == 0) {
                const double w = T::w(i), cu = projected(i, u);
                const double f = (known >> opposite & 1U) != 0
                                     ? double(view.post_streaming(opposite)) + 2 * w * inertia * cu
                                     : w * (deviation + inertia * (cu + 0.5 * (cu * cu - u2)));
                view.set_post_streaming(i, Real(f));
            }
        }
    }

    LBM_HD static double projected(int i, const double (&u)[3]) {
        using T = Stencil<S>;
        return (T::component(i, 0) * u[0] + T::component(i, 1) * u[1] + T::component(i, 2) * u[2]) / T::cs2;
    }

    const LatticeView<S, Real, Stored>& lattice_;
    const MovingBody& body_;
    const MovingPlace& place_;
    MovingStep step_;
};

}  // namespace lbm::backend
