// What a body that moves does in a step to the populations that come in around it: walls of the links that its surface
// cuts, and the cells that it covers and uncovers. Which cells are in it is found anew in each step, from its shape and
// its poses, and marked in a box about it; there are no lists.
#pragma once

#include "moving_body.h"
#include "moving_cut.h"
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
        const KnownMark known = known_mark(index);
        unsigned found = known.found;
        for (const unsigned bit : {now, before}) {
            found |= (known.open & bit) != 0 && is_in_body(index, bit) ? bit : 0U;
        }
        set_mark(index, found);
    }
    /// The bits of a mark that take no search among triangles, and those that do.
    struct KnownMark {
        unsigned found, open;
    };
    LBM_HD KnownMark known_mark(Index index) const {
        Index k[3];
        double p[3], p_before[3];
        split_marked(index, k);
        in_body_frame(k, step_.pose(), p);
        in_body_frame(k, step_.pose_before(), p_before);
        KnownMark known{};
        if (!is_far(p) && is_near_block(place_of(k))) {
            const int at_end = known_inside(body_.shape, p);
            const int at_begin = is_far(p_before) ? 0 : known_inside(body_.shape, p_before);
            known.found = (at_end == 1 ? now : 0U) | (at_begin == 1 ? before : 0U);
            known.open = (at_end == 2 ? now : 0U) | (at_begin == 2 ? before : 0U);
        }
        return known;
    }
    /// Whether a bit of a mark is set, by a search.
    LBM_HD bool is_in_body(Index index, unsigned bit) const {
        Index k[3];
        double p[3];
        split_marked(index, k);
        in_body_frame(k, bit == now ? step_.pose() : step_.pose_before(), p);
        return is_inside(body_.shape, p);
    }
    LBM_HD void set_mark(Index index, unsigned found) const { body_.marks[index] = static_cast<unsigned char>(found); }

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
        }
        cell.mark = mark_place(k);
        return cell;
    }

    /// The links along which populations come off the body into the cell of an index in the box: bit i for population
    /// i. None if the cell is not in the block. Most cells are known by marks alone, which come first.
    LBM_HD unsigned walls(Index index) const {
        Index k[3];
        split(index, body_.size, k);
        const unsigned char* mark = body_.marks + mark_place(k);
        if (*mark != 0) {
            return 0;
        }
        const Index row = stride(1), layer = stride(2);
        unsigned found = 0;
        static_for<S::Q - 1>([&]<int k>() LBM_INLINE_LAMBDA {
            using T = Stencil<S>;
            const Index to = T::component(k + 1, 0) + T::component(k + 1, 1) * row + T::component(k + 1, 2) * layer;
            found |= mark[-to] != 0 ? 1U << (k + 1) : 0U;
        });
        if (found == 0) {
            return 0;
        }
        const MovingCell own = cell(index);
        if (!own.is_in_block || mark_of_others(own, velocity(0)) != 0) {
            return 0;
        }
        return found & links_to_neighbors(own);
    }

    /// Where the surface cuts the link of one of a cell's walls(): how far from the cell, as a fraction of the link.
    LBM_HD double cut(const MovingCell& cell, int i) const {
        const Velocity c = velocity(i), back = velocity(Stencil<S>::opposite(i));
        // By the pose in which the neighbour is in the body: the new one, else the one before.
        const double* pose = (mark_of_neighbor(cell, back) & now) != 0 ? step_.pose() : step_.pose_before();
        double x[3], there[3], from[3], end[3];
        centre(cell, x);
        for (int d = 0; d < 3; ++d) {
            there[d] = x[d] - c.at[d];
        }
        to_body(pose, x, from);
        to_body(pose, there, end);
        return backend::cut(body_.shape, from, end);
    }

    /// What comes into a cell along one of its walls(), of this cut().
    LBM_HD MovingWall<Real> wall(const MovingCell& cell, int i, double q) const {
        using T = Stencil<S>;
        const CellView<S, Real, Stored> view = view_of(cell);
        const int opposite = T::opposite(i);
        const Velocity c = velocity(i);
        Real f[S::Q];  // all that is in memory is asked for first
        static_for<S::Q>([&]<int k>() LBM_INLINE_LAMBDA { f[k] = view.post_collision(k); });
        // Whether what streams in towards the wall comes from a cell that no body is or was in.
        const bool meets_fluid =
            has_neighbor(cell, c) && mark_of_neighbor(cell, c) == 0 && mark_of_others(cell, c) == 0;
        const Real streamed = meets_fluid ? view.post_streaming(opposite) : Real(0);
        double x[3], cu = 0;
        centre(cell, x);
        MovingWall<Real> found{};
        for (int d = 0; d < 3; ++d) {
            found.point[d] = x[d] - q * c.at[d];
        }
        for (int d = 0; d < 3; ++d) {
            found.velocity[d] = d < S::D ? step_.velocity(d, found.point) : 0.0;
            cu += c.at[d] * found.velocity[d];
        }
        Real deviation = 0, returning = 0;
        static_for<S::Q>([&]<int k>() LBM_INLINE_LAMBDA {
            deviation += f[k];
            found.outgoing = k == opposite ? f[k] : found.outgoing;
            returning = k == i ? f[k] : returning;
        });
        // The density is that of the cell, so that a wall takes the mass that it covers.
        const Real moved = Real(2 * T::w(i) * cu / T::cs2) * inertia_of_deviation(deviation, view.compressibility);
        const boundary::LinearWeights weights = boundary::InterpolatedWall::weights(q);
        const boundary::LinearWall<Real> at_cut{Real(weights.returning), Real(weights.streamed),
                                                Real(weights.momentum) * moved};
        found.incoming = meets_fluid ? at_cut.incoming(found.outgoing, returning, streamed)
                                     : boundary::bounced_back(found.outgoing, moved);
        return found;
    }

    LBM_HD void set_incoming(const MovingCell& cell, int i, double q) const {
        view_of(cell).set_post_streaming(i, wall(cell, i, q).incoming);
    }

    /// Adds the force on the body by one of a cell's walls(), and its torque about a point, as add_body_force does for
    /// a body at rest. `moves`: the point moves with the body, and is given by the distances from that about which it
    /// turns.
    LBM_HD void add_force(const MovingCell& cell, int i, const double (&center)[3], bool moves,
                          ForceAndTorque& sum) const {
        const MovingWall<Real> own = wall(cell, i, cut(cell, i));
        const double exchanged = double(own.outgoing) + double(own.incoming);
        const double lost = double(own.outgoing) - double(own.incoming);
        double c[3], arm[3];
        for (int d = 0; d < 3; ++d) {
            c[d] = Stencil<S>::component(i, d);
            arm[d] = d < S::D ? own.point[d] - center[d] - (moves ? step_.origin()[d] : 0.0) : 0.0;
        }
        sum.add(c, exchanged, lost, own.velocity, arm);
    }

    /// Sets all populations that come into the cell of an index in the box, if it is one of the body, or one that this
    /// has just left.
    LBM_HD void fill(Index index) const {
        const unsigned mark = mark_of(index);
        if ((mark & now) != 0) {
            fill_covered(index);
        } else if (mark != 0) {
            fill_left(index);
        }
    }

private:
    static constexpr unsigned now = 1, before = 2;  // the bits of a mark: in the body at t + 1, and at t

    LBM_HD void fill_covered(Index index) const {
        const MovingCell cell = this->cell(index);
        if (cell.is_in_block) {
            refill<false>(view_of(cell), velocity_at(cell), 0);
        }
    }
    LBM_HD void fill_left(Index index) const {
        const MovingCell cell = this->cell(index);
        if (cell.is_in_block && (mark_of_others(cell, velocity(0)) & now) == 0) {
            refill<true>(view_of(cell), velocity_at(cell), links_from_fluid(cell));
        }
    }
    LBM_HD unsigned mark_of(Index index) const {
        Index k[3];
        split(index, body_.size, k);
        return body_.marks[mark_place(k)];
    }
    struct Velocity3 {
        double of[3];
    };
    /// The body's velocity at the centre of a cell.
    LBM_HD Velocity3 velocity_at(const MovingCell& cell) const {
        double x[3];
        Velocity3 u;
        centre(cell, x);
        for (int d = 0; d < 3; ++d) {
            u.of[d] = d < S::D ? step_.velocity(d, x) : 0.0;
        }
        return u;
    }
    LBM_HD void split_marked(Index index, Index (&k)[3]) const {
        const int size[3] = {body_.marked(0, S::D), body_.marked(1, S::D), body_.marked(2, S::D)};
        split(index, size, k);
    }
    struct Place {
        Index at[3];
    };
    /// The place of a cell with a mark.
    LBM_HD Place place_of(const Index (&k)[3]) const {
        Place place;
        for (int d = 0; d < 3; ++d) {
            place.at[d] = Index(step_.corner(d)) + k[d] - MovingBody::rim(d, S::D);
        }
        return place;
    }
    LBM_HD void in_body_frame(const Index (&k)[3], const double* pose, double (&p)[3]) const {
        const Place place = place_of(k);
        double x[3];
        for (int d = 0; d < 3; ++d) {
            x[d] = d < S::D ? double(place.at[d]) + 0.5 : 0.0;
        }
        to_body(pose, x, p);
    }

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
            at += at < 0 ? n : -n;  // mostly enough, and far faster than a division
            if (at < 0 || at >= n) {
                at = at % n;
                at = at < 0 ? at + n : at;
            }
        }
        return at;
    }

    /// Whether a cell, or a periodic image of it, is one of the block or next to it.
    LBM_HD bool is_near_block(const Place& place) const {
        const Index(&at)[3] = place.at;
        bool found = true;
        for (int d = 0; d < 3; ++d) {
            bool is_near = is_next_to_block(d, at[d] - place_.offset[d]);
            if (!is_near && place_.periodic[d]) {
                const Index n = place_.domain[d], local = in_domain(d, at[d]) - place_.offset[d];
                is_near =
                    is_next_to_block(d, local) || is_next_to_block(d, local + n) || is_next_to_block(d, local - n);
            }
            found = found && is_near;
        }
        return found;
    }
    LBM_HD bool is_next_to_block(int d, Index local) const {
        const int n = d == 0 ? lattice_.address.nx : d == 1 ? lattice_.address.ny : lattice_.address.nz;
        return local >= -1 && local <= n;
    }

    /// A velocity of the stencil.
    struct Velocity {
        int at[3];
    };
    LBM_HD static Velocity velocity(int i) {
        using T = Stencil<S>;
        return {{T::component(i, 0), T::component(i, 1), T::component(i, 2)}};
    }

    LBM_HD Index stride(int d) const {
        const Index row = body_.marked(0, S::D);
        return d == 0 ? 1 : d == 1 ? row : row * body_.marked(1, S::D);
    }
    /// The place among the marks of a cell of the box.
    LBM_HD Index mark_place(const Index (&k)[3]) const {
        Index place = 0;
        for (int d = 0; d < 3; ++d) {
            place += (k[d] + MovingBody::rim(d, S::D)) * stride(d);
        }
        return place;
    }
    /// The mark of the neighbour at c.
    LBM_HD unsigned mark_of_neighbor(const MovingCell& cell, const Velocity& c) const {
        return body_.marks[cell.mark + c.at[0] + c.at[1] * stride(1) + c.at[2] * stride(2)];
    }

    /// The marks that the other bodies have of the neighbour at c; of the cell itself with that at rest.
    LBM_HD unsigned mark_of_others(const MovingCell& cell, const Velocity& c) const {
        unsigned found = 0;
        for (int k = 0; k < bodies_.count; ++k) {
            if (k == bodies_.number) {
                continue;
            }
            const MovingBody& other = bodies_.all[k];
            const MovingStep step{factors_ + other.series};
            Index at = 0, row = 1;
            bool is_in_box = true;
            for (int d = 0; d < S::D; ++d) {
                const Index away = in_domain(d, cell.at[d] + c.at[d] - Index(step.corner(d)));
                is_in_box = is_in_box && away >= 0 && away < other.size[d];
                at += (away + MovingBody::rim(d, S::D)) * row;
                row *= other.marked(d, S::D);
            }
            found |= is_in_box ? other.marks[at] : 0U;
        }
        return found;
    }

    /// The links that come from fluid, which was in no body at t.
    LBM_HD unsigned links_from_fluid(const MovingCell& cell) const {
        unsigned found = 0;
        static_for<S::Q - 1>([&]<int k>() LBM_INLINE_LAMBDA {
            const unsigned mark = mark_of_neighbor(cell, velocity(Stencil<S>::opposite(k + 1)));
            found |= (mark & before) == 0 ? 1U << (k + 1) : 0U;
        });
        found &= links_to_neighbors(cell);
        for (int i = 1; bodies_.count > 1 && i < S::Q; ++i) {
            const unsigned mark = mark_of_others(cell, velocity(Stencil<S>::opposite(i)));
            found &= (mark & before) == 0 ? ~0U : ~(1U << i);
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

    /// Whether there is a neighbour at c, and no face in between that is not periodic.
    LBM_HD bool has_neighbor(const MovingCell& cell, const Velocity& c) const {
        bool found = true;
        for (int d = 0; d < S::D; ++d) {
            const Index at = cell.at[d] + c.at[d];
            found = found && (place_.periodic[d] || (at >= 0 && at < place_.domain[d]));
        }
        return found;
    }
    /// The links that come from a neighbour: bit i for the one at -c_i.
    LBM_HD unsigned links_to_neighbors(const MovingCell& cell) const {
        using T = Stencil<S>;
        unsigned found = ~0U;
        for (int d = 0; d < S::D; ++d) {
            const bool has_lower = place_.periodic[d] || cell.at[d] > 0;
            const bool has_upper = place_.periodic[d] || cell.at[d] < place_.domain[d] - 1;
            unsigned up = 0, down = 0;
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                up |= T::component(i, d) > 0 ? 1U << i : 0U;
                down |= T::component(i, d) < 0 ? 1U << i : 0U;
            });
            found &= (has_lower ? ~0U : ~up) & (has_upper ? ~0U : ~down);
        }
        return found;
    }

    /// Sets the populations of a cell that are not among the `known` ones, of bit i, to those of the wall's velocity
    /// u. The density is that of the known ones and their reflections, or 1; a population whose opposite is known has
    /// its part that is not of equilibrium (Zou & He, Phys. Fluids 9 (1997) 1591; with the wall's velocity as the
    /// target of cells that a body leaves: Dorschner, Chikatamarla, Boesch & Karlin, J. Comput. Phys. 295 (2015) 340).
    template <bool may_know>
    LBM_HD static void refill(const CellView<S, Real, Stored>& view, const Velocity3& at, unsigned known) {
        using T = Stencil<S>;
        const double(&u)[3] = at.of;
        const double u2 = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / T::cs2;
        const double scaled[3] = {u[0] / T::cs2, u[1] / T::cs2, u[2] / T::cs2};
        double deviation = 0;
        Real f[S::Q] = {};
        if (may_know && known != 0) {
            double mass = 0, weight = 0;
            static_for<T::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
                constexpr int i = 2 * p + 1;
                const bool has = (known >> i & 1U) != 0, has_opposite = (known >> (i + 1) & 1U) != 0;
                f[i] = has ? view.post_streaming(i) : Real(0);
                f[i + 1] = has_opposite ? view.post_streaming(i + 1) : Real(0);
                if (has || has_opposite) {
                    constexpr double w = T::w(i);
                    const double cu = projected<i>(scaled);
                    const double both = has && has_opposite ? double(f[i]) + double(f[i + 1])
                                        : has               ? 2 * (double(f[i]) - w * cu)
                                                            : 2 * (double(f[i + 1]) + w * cu);
                    mass += both - w * (cu * cu - u2);
                    weight += 2 * w;
                }
            });
            deviation = mass / weight;
        }
        const double inertia = inertia_of_deviation(deviation, double(view.compressibility));
        view.set_post_streaming(0, Real(T::w(0) * (deviation - 0.5 * inertia * u2)));
        static_for<T::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            constexpr int i = 2 * p + 1;
            constexpr double w = T::w(i);
            const double cu = projected<i>(scaled), odd = inertia * cu;
            const double even = deviation + 0.5 * inertia * (cu * cu - u2);
            if (!may_know || (known >> i & 1U) == 0) {
                const bool reflects = may_know && (known >> (i + 1) & 1U) != 0;
                view.set_post_streaming(i, Real(reflects ? double(f[i + 1]) + 2 * w * odd : w * (even + odd)));
            }
            if (!may_know || (known >> (i + 1) & 1U) == 0) {
                const bool reflects = may_know && (known >> i & 1U) != 0;
                view.set_post_streaming(i + 1, Real(reflects ? double(f[i]) - 2 * w * odd : w * (even - odd)));
            }
        });
    }

    /// The component of a vector along velocity i, times its length.
    template <int i>
    LBM_HD static double projected(const double (&u)[3]) {
        double sum = 0;
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { accumulate<S::c[i][d]>(sum, u[d]); });
        return sum;
    }

    LatticeView<S, Real, Stored> lattice_;
    const MovingBodies& bodies_;
    const MovingBody& body_;
    const MovingPlace& place_;
    const double* factors_;
    MovingStep step_;
};

}  // namespace lbm::backend
