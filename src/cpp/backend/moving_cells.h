// What a body that moves does in a step to the populations that come in around it: walls of the links that its surface
// cuts, and the cells that it covers and uncovers. Which cells are in it is found anew in each step, from its shape and
// its poses, and marked in a box about it; there are no lists.
#pragma once

#include "moving_body.h"
#include "wall_links.h"

namespace lbm::backend {

/// A cell of the box about a body.
struct MovingCell {
    Index at[3];   // in the domain, or in one of its periodic images
    int local[3];  // in the block
    Index mark;    // its place among the marks
    bool is_in_block;
};

/// A link that the surface cuts, in a step.
template <class Real>
struct MovingWall {
    Real outgoing, incoming;       // the populations that hit the wall and that come off it
    double velocity[3], point[3];  // of the wall, where it cuts the link
};

/// The body of one step, next to the cells of one block: mark() for all marks of all bodies, then the walls of all,
/// then fill(). Cells that another body covers or has just left have no walls of this one, and what comes from them is
/// known to none of its formulas: so it does not matter which body comes first, nor in which block it is.
template <class S, class Real, class Stored>
class MovingCells {
public:
    LBM_HD MovingCells(const LatticeView<S, Real, Stored>& lattice, const MovingBodies& bodies,
                       const MovingPlace& place, const double* factors)
        : lattice_(lattice),
          bodies_(bodies),
          body_(bodies.own),
          place_(place),
          factors_(factors),
          step_{factors + body_.series} {}

    /// Cells of the box.
    LBM_HD Index count() const { return body_.cells(); }

    /// Finds which cells of the box and of its rim are in the body; one of an index that counts them, x fastest.
    LBM_HD void mark(Index index) const {
        Index k[3];
        const int size[3] = {body_.marked(0, S::D), body_.marked(1, S::D), body_.marked(2, S::D)};
        split(index, size, k);
        double x[3];
        bool is_near_block = true;
        for (int d = 0; d < 3; ++d) {
            const Index at = Index(step_.corner(d)) + k[d] - MovingBody::rim(d, S::D);
            const Index n = place_.domain[d], local = in_domain(d, at) - place_.offset[d];
            const bool wraps = place_.periodic[d];
            is_near_block = is_near_block && (is_next_to_block(d, local) || (wraps && is_next_to_block(d, local + n)) ||
                                              (wraps && is_next_to_block(d, local - n)));
            x[d] = d < S::D ? double(at) + 0.5 : 0.0;
        }
        unsigned found = 0;
        for (int t = 0; t < 2 && is_near_block; ++t) {
            double p[3];
            to_body(t == 0 ? step_.pose() : step_.pose_before(), x, p);
            is_near_block = !is_far(p);
            found |= is_near_block && is_inside(body_.shape, p) ? 1U << t : 0U;
        }
        body_.marks[index] = static_cast<unsigned char>(found);
    }

    /// The cell of an index in the box, x fastest.
    LBM_HD MovingCell cell(Index index) const {
        Index k[3];
        split(index, body_.size, k);
        const int size[3] = {lattice_.address.nx, lattice_.address.ny, lattice_.address.nz};
        MovingCell cell{};
        cell.is_in_block = true;
        for (int d = 0; d < 3; ++d) {
            cell.at[d] = Index(step_.corner(d)) + k[d];
            const Index at = in_domain(d, cell.at[d]), local = at - place_.offset[d];
            cell.is_in_block = cell.is_in_block && at >= 0 && at < place_.domain[d] && local >= 0 && local < size[d];
            cell.local[d] = cell.is_in_block ? int(local) : 0;
            cell.mark += (k[d] + MovingBody::rim(d, S::D)) * stride(d);
        }
        return cell;
    }

    /// The links along which populations come off the body into a cell: bit i for population i.
    LBM_HD unsigned walls(const MovingCell& cell) const {
        unsigned found = 0;
        if (body_.marks[cell.mark] == 0 && mark_of_others(cell, 0, 0) == 0) {
            for (int i = 1; i < S::Q; ++i) {
                found |= mark_of_neighbor(cell, i, -1) != 0 && has_neighbor(cell, i, -1) ? 1U << i : 0U;
            }
        }
        return found;
    }

    /// What comes into a cell along one of its walls().
    LBM_HD MovingWall<Real> wall(const MovingCell& cell, int i) const {
        const CellView<S, Real, Stored> view = view_of(cell);
        Real deviation = 0;
        for (int k = 0; k < S::Q; ++k) {
            deviation += view.post_collision(k);
        }
        const Real inertia = inertia_of_deviation(deviation, view.compressibility);
        // By the pose in which the neighbour is in the body: the new one, else the one before.
        const double* pose = (mark_of_neighbor(cell, i, -1) & now) != 0 ? step_.pose() : step_.pose_before();
        double x[3], there[3], from[3], end[3], cu = 0;
        centre(cell, x);
        for (int d = 0; d < 3; ++d) {
            there[d] = x[d] - Stencil<S>::component(i, d);
        }
        to_body(pose, x, from);
        to_body(pose, there, end);
        const double q = cut(from, end);
        MovingWall<Real> found{};
        for (int d = 0; d < 3; ++d) {
            found.point[d] = x[d] - q * Stencil<S>::component(i, d);
        }
        for (int d = 0; d < 3; ++d) {
            found.velocity[d] = d < S::D ? step_.velocity(d, found.point) : 0.0;
            cu += Stencil<S>::component(i, d) * found.velocity[d];
        }
        // The density is that of the cell, so that a wall takes the mass that it covers.
        const Real moved = Real(2 * Stencil<S>::w(i) * cu / Stencil<S>::cs2) * inertia;
        found.outgoing = view.post_collision(Stencil<S>::opposite(i));
        found.incoming = boundary::bounced_back(found.outgoing, moved);
        // Whether what streams in towards the wall comes from a cell that no body is or was in.
        if (has_neighbor(cell, i, 1) && mark_of_neighbor(cell, i, 1) == 0 && mark_of_others(cell, i, 1) == 0) {
            const boundary::LinearWeights weights = boundary::InterpolatedWall::weights(q);
            const boundary::LinearWall<Real> at_cut{Real(weights.returning), Real(weights.streamed),
                                                    Real(weights.momentum) * moved};
            found.incoming =
                at_cut.incoming(found.outgoing, view.post_collision(i), view.post_streaming(Stencil<S>::opposite(i)));
        }
        return found;
    }

    LBM_HD void set_incoming(const MovingCell& cell, int i) const {
        view_of(cell).set_post_streaming(i, wall(cell, i).incoming);
    }

    /// Adds the force on the body by one of a cell's walls(), and its torque about a point, as add_body_force does for
    /// a body at rest. `moves`: the point moves with the body, and is given by the distances from that about which it
    /// turns.
    LBM_HD void add_force(const MovingCell& cell, int i, const double (&center)[3], bool moves,
                          ForceAndTorque& sum) const {
        const MovingWall<Real> own = wall(cell, i);
        const double exchanged = double(own.outgoing) + double(own.incoming);
        const double lost = double(own.outgoing) - double(own.incoming);
        double c[3], arm[3];
        for (int d = 0; d < 3; ++d) {
            c[d] = Stencil<S>::component(i, d);
            arm[d] = d < S::D ? own.point[d] - center[d] - (moves ? step_.origin()[d] : 0.0) : 0.0;
        }
        sum.add(c, exchanged, lost, own.velocity, arm);
    }

    /// Sets all populations that come into a cell of the body, or into one that it has just left.
    LBM_HD void fill(const MovingCell& cell) const {
        const unsigned own = body_.marks[cell.mark];
        if (own == 0 || ((own & now) == 0 && (mark_of_others(cell, 0, 0) & now) != 0)) {
            return;
        }
        unsigned known = 0;
        for (int i = 1; (own & now) == 0 && i < S::Q; ++i) {
            const bool comes_from_fluid = has_neighbor(cell, i, -1) && (mark_of_neighbor(cell, i, -1) & before) == 0 &&
                                          (mark_of_others(cell, i, -1) & before) == 0;
            known |= comes_from_fluid ? 1U << i : 0U;
        }
        double x[3], u[3];
        centre(cell, x);
        for (int d = 0; d < 3; ++d) {
            u[d] = d < S::D ? step_.velocity(d, x) : 0.0;
        }
        refill(view_of(cell), u, known);
    }

private:
    static constexpr unsigned now = 1, before = 2;  // the bits of a mark: in the body at t + 1, and at t

    /// The numbers along each axis of the cell of an index, x fastest.
    LBM_HD static void split(Index index, const int (&size)[3], Index (&k)[3]) {
        Index row = 0, layer = 0;
        if (index >> 32 == 0) {  // which a GPU divides far faster
            row = UInt32(index) / UInt32(size[0]);
            layer = UInt32(row) / UInt32(size[1]);
        } else {
            row = index / size[0];
            layer = row / size[1];
        }
        k[0] = index - row * size[0];
        k[1] = row - layer * size[1];
        k[2] = layer;
    }

    /// The place in the domain of one that may be beyond a periodic face; or a distance, which may go around.
    LBM_HD Index in_domain(int d, Index at) const {
        const Index n = place_.domain[d];
        if (place_.periodic[d] && (at < 0 || at >= n)) {
            at = at % n;
            at = at < 0 ? at + n : at;
        }
        return at;
    }
    LBM_HD bool is_next_to_block(int d, Index local) const {
        const int n = d == 0 ? lattice_.address.nx : d == 1 ? lattice_.address.ny : lattice_.address.nz;
        return local >= -1 && local <= n;
    }

    LBM_HD Index stride(int d) const {
        const Index row = body_.marked(0, S::D);
        return d == 0 ? 1 : d == 1 ? row : row * body_.marked(1, S::D);
    }
    /// The mark of the neighbor along `side` times velocity i.
    LBM_HD unsigned mark_of_neighbor(const MovingCell& cell, int i, int side) const {
        Index at = cell.mark;
        for (int d = 0; d < S::D; ++d) {
            at += side * Stencil<S>::component(i, d) * stride(d);
        }
        return body_.marks[at];
    }

    /// The marks that the other bodies have of it; those of the cell itself with side 0.
    LBM_HD unsigned mark_of_others(const MovingCell& cell, int i, int side) const {
        unsigned found = 0;
        for (int k = 0; k < bodies_.count; ++k) {
            const MovingBody& other = bodies_.all[k];
            const MovingStep step{factors_ + other.series};
            Index at = 0, row = 1;
            bool is_in_box = k != bodies_.number;
            for (int d = 0; d < S::D; ++d) {
                const Index away =
                    in_domain(d, cell.at[d] + side * Stencil<S>::component(i, d) - Index(step.corner(d)));
                is_in_box = is_in_box && away >= 0 && away < other.size[d];
                at += (away + MovingBody::rim(d, S::D)) * row;
                row *= other.marked(d, S::D);
            }
            found |= is_in_box ? other.marks[at] : 0U;
        }
        return found;
    }

    LBM_HD CellView<S, Real, Stored> view_of(const MovingCell& cell) const {
        return lattice_.cell(cell.local[0], cell.local[1], cell.local[2]);
    }

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
    const MovingBodies& bodies_;
    const MovingBody& body_;
    const MovingPlace& place_;
    const double* factors_;
    MovingStep step_;
};

}  // namespace lbm::backend
