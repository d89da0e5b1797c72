// What a sweep over rows of cells whose state is moments (moment_rows.h) does at walls, inlets and outlets: what the
// formulas of links give cells. It depends on the stencil and the arithmetic type alone, so that kernels of all
// collisions share it.
#pragma once

#include "../scaled_values.h"
#include "../wall_links.h"
#include "moment_cut_rings.h"
#include "moment_row_force.h"

namespace lbm::cpu {
namespace {

template <class Real, int W>
class MomentWallRows : protected MomentCutRings<Real, W> {
public:
    using Rings = MomentCutRings<Real, W>;
    static constexpr Index pitch = MomentScratch::pitch;

    explicit MomentWallRows(const MomentArguments& arguments)
        : Rings(arguments), compressibility_(Real(arguments.compressibility)) {}

protected:
    using Rings::a_, Rings::first_layer_, Rings::end_layer_, Rings::first_real_, Rings::end_real_, Rings::at,
        Rings::populations, Rings::sums, Rings::kept, Rings::image_of_row, Rings::for_wall_cells;

    /// Supplies what the formulas of links give the cells of a target row, such as what comes off walls half-way to the
    /// next cells. Nothing comes from behind them. What comes off walls in the own layer lies in the ring where the
    /// neighbour's population would; what comes off those below is added to the sums; and what comes off those above is
    /// kept until the layer above is in the ring.
    [[gnu::noinline]] void serve_walls(int s, int row, int layer) const {
        const int around = a_.steps - 1 - s;
        if (layer - 1 >= first_layer_ - around && layer - 1 < end_layer_ + around) {
            const Real* const above = kept(s, row);
            for_alike_cells(row, layer - 1, [&]<class V>(const MomentWallCell& cell, Index at_cell) LBM_INLINE_LAMBDA {
                this->template for_links<-1>(cell, [&]<int i>() LBM_INLINE_LAMBDA {
                    const V given = load<V>(above + FromAbove<S>::rank(i) * pitch + at_cell);
                    store(&this->template incoming_place<i>(s, row, at_cell), given);
                });
            });
        }
        if (layer >= first_layer_ - around && layer < end_layer_ + around) {
            for_alike_cells(row, layer, [&]<class V>(const MomentWallCell& cell, Index at_cell) LBM_INLINE_LAMBDA {
                if (!IsSame<V, Real>::value || cell.alike > 0) {
                    serve_steady_walls<V>(cell, s, row, at_cell);
                } else if (cell.is_cut) {
                    serve_cut_cell(cell, s, row, layer);
                } else {
                    serve_cell(cell, s, row, layer);
                }
            });
        }
    }

    /// Adds what comes off walls above the cells of a layer to the sums of the layer above.
    [[gnu::noinline]] void add_kept(int s, int row, int layer) const {
        const Real* const above = kept(s, row);
        Real* const image = sums(s, row);
        for_alike_cells(row, layer, [&]<class V>(const MomentWallCell& cell, Index at_cell) LBM_INLINE_LAMBDA {
            V given[S::Q] = {};
            this->template for_links<-1>(cell, [&]<int i>() LBM_INLINE_LAMBDA {
                given[i] = load<V>(above + FromAbove<S>::rank(i) * pitch + at_cell);
            });
            add_to_sums<-1>(image + at_cell, given);
        });
    }
    Real compressibility_;

private:
    using Several = Pack<Real, W>;

    template <class V>
    static V load(const Real* from) {
        if constexpr (IsSame<V, Real>::value) {
            return *from;
        } else {
            return load_pack<Real, W>(from);
        }
    }
    static void store(Real* to, Real number) { *to = number; }
    static void store(Real* to, const Several& numbers) { store_pack<Real, W>(to, numbers); }

    /// Calls visit.operator()<V>(cell, at(cell.x)) for the cells of a row of a layer that have walls next to them: with
    /// a pack as V for as many as it holds that are alike, else with Real for each.
    template <class Visit>
    void for_alike_cells(int row, int layer, Visit&& visit) const {
        const auto [first, end] = this->wall_cells(row, layer);
        for (const MomentWallCell* cell = first; cell < end;) {
            const Index place = at(cell->x);
            if (cell->alike >= W && place + W - 1 == at(cell->x + W - 1)) {  // within a block of the row's memory
                visit.template operator()<Several>(*cell, place);
                cell += W;
            } else {
                visit.template operator()<Real>(*cell, place);
                ++cell;
            }
        }
    }

    /// Serves the links of a cell by their formulas.
    [[gnu::noinline]] void serve_cell(const MomentWallCell& cell, int s, int row, int layer) const {
        const Index at_cell = at(cell.x);
        const Real* const own = populations(s, row);
        const backend::WallLink* next = a_.walls->links + cell.first;
        const boundary::CellMoments<Real> moments = cell_moments(cell, own, s, row, layer);
        Real from_below[S::Q] = {};
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if ((cell.links >> i & 1U) != 0) {
                const RingPopulations f{own + at_cell, i};
                backend::WallLink link = *next++;
                set_value(link, s);
                put_incoming<i>(backend::incoming<S>(link, moments, f), s, row, at_cell, from_below);
            }
        });
        add_to_sums<1>(sums(s, row) + at_cell, from_below);
    }

    /// The same of a cell, or of as many as V holds, at walls half-way whose values do not change in time.
    template <class V>
    void serve_steady_walls(const MomentWallCell& cell, int s, int row, Index at_cell) const {
        const Real* const own = populations(s, row) + at_cell;
        const backend::WallLink* next = a_.walls->links + cell.first;
        V from_below[S::Q] = {};
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if ((cell.links >> i & 1U) != 0) {
                const V outgoing = load<V>(own + Stencil<S>::opposite(i) * pitch);
                const V incoming = boundary::bounced_back(outgoing, Real(next++->value));
                put_incoming<i>(incoming, s, row, at_cell, from_below);
            }
        });
        add_to_sums<1>(sums(s, row) + at_cell, from_below);
    }

    /// The same of a cell at walls at known distances or between fluid cells. What the links from below take of the
    /// layer above is added when that is there, unless it is an image.
    [[gnu::noinline]] void serve_cut_cell(const MomentWallCell& cell, int s, int row, int layer) const {
        const Index at_cell = at(cell.x);
        const Real* const own = this->copies(s, row);
        const Real* const streamed = this->streamed(s, row);
        const boundary::CellMoments<Real> moments = cell_moments(cell, own, s, row, layer);
        const int first_layer = first_real_, last_layer = end_real_ - 1;
        int number = 0;
        Real from_below[S::Q] = {};
        static_for<S::Q>([&]<int i>() {
            constexpr int up = S::c[i][S::D - 1], towards = Stencil<S>::opposite(i);
            if ((cell.links >> i & 1U) != 0) {
                CutPopulations f{{own + at_cell, i}, Real(0)};
                if constexpr (up == 0) {
                    f.streamed_ = this->template incoming_place<towards>(s, row, at_cell);
                } else if (layer == (up < 0 ? first_layer : last_layer)) {
                    f.streamed_ = this->template place_of_image<towards>(s, row, at_cell);
                } else if constexpr (up < 0) {
                    f.streamed_ = streamed[FromAbove<S>::rank(i) * pitch + at_cell];
                }
                backend::WallLink link = a_.walls->links[cell.first + number];
                set_value(link, s);
                const boundary::LinearWeights& weights = a_.walls->weights[cell.first + number];
                const Real incoming = backend::incoming_of_cut<S>(link, weights, moments, f);
                put_incoming<i>(incoming, s, row, at_cell, from_below);
                ++number;
            }
        });
        add_to_sums<1>(sums(s, row) + at_cell, from_below);
    }

    /// Puts what the formula of a link gives where it is read: in the ring, or if it comes from above, aside. What
    /// comes from below is still to be summed.
    template <int i, class V>
    void put_incoming(const V& incoming, int s, int row, Index at_cell, V (&from_below)[S::Q]) const {
        constexpr int up = S::c[i][S::D - 1];
        if constexpr (up < 0) {
            store(kept(s, row) + FromAbove<S>::rank(i) * pitch + at_cell, incoming);
        } else if constexpr (up == 0) {
            store(&this->template incoming_place<i>(s, row, at_cell), incoming);
        } else {
            from_below[i] = incoming;
        }
    }

    /// Sets the value of a link that changes in time to that of a stage's step.
    void set_value(backend::WallLink& link, int s) const {
        if (a_.factors != nullptr && link.scaled >= 0) {
            const MomentWalls& walls = *a_.walls;
            const double* const factors = a_.factors + Index(s) * a_.series;
            backend::ScaledValues<S>{walls.scaled_values, factors, walls.reference_density, walls.wall_inertia}.set(
                link);
        }
    }

    /// The populations of a link's formula, of a cell in the ring.
    struct RingPopulations {
        const Real* cell;
        int i;

        Real outgoing() const { return cell[Stencil<S>::opposite(i) * pitch]; }
        Real returning() const { return cell[i * pitch]; }
    };
    /// The same with what streams in against the link, or zero where that is added late.
    struct CutPopulations : RingPopulations {
        Real streamed_;

        Real streamed() const { return streamed_; }
    };

    /// The moments that the formulas of a cell's links read. Those of an image are the images of the cell's, which sums
    /// of its own populations would not be.
    boundary::CellMoments<Real> cell_moments(const MomentWallCell& cell, const Real* own, int s, int row,
                                             int layer) const {
        boundary::CellMoments<Real> moments{};
        moments.compressibility = compressibility_;
        if (cell.needs_moments) {
            const CellImage image = image_of_row(row);
            Real f[S::Q], deviation = 0, momentum[3] = {};
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { f[i] = own[i * pitch + at(cell.x)]; });
            if (image.odd) {
                mirror_populations<S, 1>(f);
            }
            add_up<S>(f, deviation, momentum);
            double force[3] = {};
            MomentRowForce<Real, W, true>(a_.force, s + 1, row, layer, image)
                .of_real_cell(this->in_row(cell.x), image, force);
            backend::set_cell_moments(moments, deviation, momentum, force);
            moments.velocity[1] = image.odd ? -moments.velocity[1] : moments.velocity[1];
        }
        return moments;
    }

    /// Adds populations with component `cz` along the last axis, which formulas give a cell, to sums.
    template <int cz, class V>
    void add_to_sums(Real* to, const V (&given)[S::Q]) const {
        LayerSums<S, V> sums;
        sums.template for_each<cz>([&]<int k>(V& number) { number = load<V>(to + k * pitch); });
        add_given<S, cz>(sums, given);
        sums.template for_each<cz>([&]<int k>(const V& number) { store(to + k * pitch, number); });
    }
};

}  // namespace
}  // namespace lbm::cpu
