// A sweep over rows of cells whose state is moments, for one stencil and one instruction set. It advances several steps
// for each time that memory is read and written.
//
// The sweep goes along the last axis, layer by layer. Of each row of a layer the populations are rebuilt, in a ring of
// as many rows as one target row needs. A target row then sums what comes from this layer: for its neighbour above, for
// itself, and for its neighbour below, which has all of its populations now and collides. So only the few sums of
// a layer are kept from layer to layer (moment_collision.h), not the populations. A row that has collided goes to
// memory after the last step; else its populations go to the ring of the next stage, which is one layer behind. All of
// this fits the second-level cache.
//
// The cells around a tile that the first of several steps needs are computed by each tile for itself. Every cell has
// the same operations in the same order wherever it is computed, so that bits depend neither on tiles nor on steps a
// sweep.
//
// Behind a face with free slip lie images of the cells before it. Across rows these are rows like others, rebuilt from
// those of which they are the images; at the ends of rows they are copies. Along the last axis the sums of an image's
// layer are those of the layer before the face, which it sends towards it, so that no sweep has images there.
#pragma once

#include "../../lattice/moment_collision.h"
#include "../../lattice/parameters.h"
#include "moment_pairs.h"
#include "moment_row_force.h"
#include "moment_wall_rows.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

template <class Collision, class Real, class Parameters, bool forced>
class MomentSweep : MomentWallRows<Real, LBM_VECTOR_BYTES / int(sizeof(Real))> {
public:
    static constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));
    using V = Pack<Real, W>;
    using Rings = MomentWallRows<Real, W>;
    using RowForce = MomentRowForce<Real, W, forced>;
    static constexpr Index pitch = MomentScratch::pitch;

    MomentSweep(const MomentArguments& arguments, const Parameters& parameters)
        : Rings(arguments), parameters_(parameters) {}

    void run() const {
        const int steps = a_.steps;
        const int first = first_layer_ - steps < first_real_ ? first_real_ : first_layer_ - steps;
        for (int layer = first; layer < end_layer_ + steps; ++layer) {
            const int beyond = solid ? steps : 0;
            if (layer >= end_real_) {
                complete_last_layer(layer - end_real_);
                continue;
            }
            for (int row = first_row_ - beyond; row < end_row_ + beyond; ++row) {
                rebuild(row, layer);
                const bool is_last = row + 1 == end_row_ + beyond;
                advance(0, row, layer, is_last ? source(first_row_ - beyond, layer + 1) : source(row + 1, layer));
            }
        }
    }

private:
    static constexpr int made = RowForce::made;
    using Rings::a_, Rings::first_row_, Rings::end_row_, Rings::first_layer_, Rings::end_layer_, Rings::first_real_,
        Rings::end_real_, Rings::solid, Rings::kept_rows, Rings::at, Rings::for_packs, Rings::populations, Rings::sums,
        Rings::first_x, Rings::end_x, Rings::end_cell, Rings::in_row, Rings::offset, Rings::image_of_row,
        Rings::close_row, Rings::is_behind_wall, Rings::clear_row, Rings::has_cuts, Rings::serve_walls, Rings::add_kept,
        Rings::compressibility_;

    const Real* source(int row, int layer) const {
        return static_cast<const Real*>(a_.source) + offset(image_of_row(row).at, layer);
    }

    /// Puts the populations of a row in memory into the ring of the first stage.
    [[gnu::noinline]] void rebuild(int row, int layer) const {
        const Address& address = a_.address;
        if (is_behind_wall(row, layer)) {
            clear_row(populations(0, row));
            return;
        }
        const CellImage image = image_of_row(row);
        const RowForce force(a_.force, made, row, layer, image);
        const Real* from = source(row, layer);
        Real* to = populations(0, row);
        const Index stride = address.population_stride;
        for_packs(first_x(0), end_x(0), [&](int x, Index place) LBM_INLINE_LAMBDA {
            StoredMoments<S, V> m = load_moments<S, Real, W>(from, in_row(x), stride);
            if constexpr (solid) {
                if (image.odd) {
                    mirror<1>(m);
                }
            }
            put_populations(m, force.at(in_row(x)), to + place);
        });
        complete_row(0, row, layer);
    }
    /// Completes the populations of a row that have been put into the ring of a stage.
    void complete_row(int s, int row, int layer) const {
        close_row(populations(s, row), row, layer);
        if (has_cuts()) {
            this->copy_own(s, row, layer);
        }
    }

    LBM_HD void put_populations(const StoredMoments<S, V>& m, const CellForce<S, V>& force, Real* to) const {
        RingPacks h{to};
        populations_of<S, Collision>(m, force, compressibility_, h);
    }

    /// The populations of a pack of cells in the ring, to be written.
    struct RingPacks {
        struct Place {
            Real* to;
            LBM_HD void operator=(const V& population) const { store_pack<Real, W>(to, population); }
        };
        Real* cells;

        LBM_HD Place operator[](int i) const { return {cells + i * pitch}; }
    };

    /// To be called when the populations of a row of a layer are in the ring of a stage. The moments at `ahead`, if
    /// any, are those of the next row that will be read.
    void advance(int s, int row, int layer, const Real* ahead = nullptr) const {
        const int around = a_.steps - 1 - s;  // cells around the tile that the stage computes
        const int target = solid ? row - 1 : row;
        if (solid && target < first_row_ - around) {
            return;
        }
        if (a_.walls != nullptr) {
            if (layer == first_real_) {
                mirror_sums(s, target);
            }
            if (has_cuts()) {
                this->add_late_links(s, target, layer - 1);
            }
            serve_walls(s, target, layer);
            if (has_cuts()) {
                this->prepare_layer_above(s, target, layer);
            }
        }
        const bool completes = layer - 1 >= first_layer_ - around && layer > first_real_;
        if (!completes) {
            collect<0>(s, target, layer - 1, nullptr, 0, ahead);
        } else if (is_behind_wall(target, layer - 1)) {
            collect<0>(s, target, layer - 1, nullptr, 0, ahead);
            clear_row(populations(s + 1, target));
            advance(s + 1, target, layer - 1);
        } else if (s + 1 == a_.steps) {
            Real* to = static_cast<Real*>(a_.target) + offset(target, layer - 1);
            collect<1>(s, target, layer - 1, to, a_.address.population_stride, ahead);
        } else {
            Real* to = populations(s + 1, target);
            collect<2>(s, target, layer - 1, to, pitch, ahead);
            complete_row(s + 1, target, layer - 1);
            advance(s + 1, target, layer - 1);
        }
    }

    /// Has the layer behind a face with free slip send back what the first layer before it has sent there.
    void mirror_sums(int s, int row) const {
        if (has_cuts()) {
            this->template clear_links_to_image<1>(s, row, first_real_);
        }
        Real* const below = sums(s, row);
        const RowsAround rows(*this, s, row);
        for_packs(first_x(s + 1), end_x(s + 1), [&](int, Index place) LBM_INLINE_LAMBDA {
            V h[S::Q];
            rows.template gather<-1>(place, h);
            LayerSums<S, V> image = layer_sums<S, -1>(h);
            image.template for_each<1>([&]<int k>(const V& number) LBM_INLINE_LAMBDA {
                store_pack<Real, W>(below + k * pitch + place, number);
            });
        });
    }

    /// Completes, in a stage, the last layer before a face with free slip: what comes in from behind it is what the
    /// layer has sent there.
    void complete_last_layer(int s) const {
        const int around = a_.steps - 1 - s, layer = end_real_ - 1;
        if (layer < first_layer_ - around || layer >= end_layer_ + around) {
            return;
        }
        const int beyond = solid ? around : 0;
        for (int row = first_row_ - beyond; row < end_row_ + beyond; ++row) {
            const bool is_behind = is_behind_wall(row, layer);
            if (!is_behind) {
                add_kept(s, row, layer);
            }
            if (s + 1 == a_.steps) {
                Real* to = static_cast<Real*>(a_.target) + offset(row, layer);
                collect_from_image<1>(s, row, layer, to, a_.address.population_stride);
                continue;
            }
            Real* to = populations(s + 1, row);
            if (is_behind) {
                clear_row(to);
            } else {
                collect_from_image<2>(s, row, layer, to, pitch);
                complete_row(s + 1, row, layer);
            }
            advance(s + 1, row, layer);
        }
    }
    template <int then>
    [[gnu::noinline]] void collect_from_image(int s, int row, int layer, Real* to, Index to_stride) const {
        const RowForce force(a_.force, s + 1, row, layer, image_of_row(row));
        const Real* const image = sums(s, row);
        const Real* const both = image + LayerSums<S, V>::numbers * pitch;
        for_packs(first_x(s + 1), end_x(s + 1), [&](int x, Index place) LBM_INLINE_LAMBDA {
            LayerSums<S, V> above{};
            above.template for_each<-1>(
                [&]<int k>(V& number) LBM_INLINE_LAMBDA { number = load_pack<Real, W>(image + k * pitch + place); });
            collide<then>(x, place, both, above, force.at(in_row(x)), to, to_stride);
        });
    }

    /// The rows of populations that come in to a row.
    struct RowsAround {
        const Real* from[kept_rows];

        RowsAround(const MomentSweep& sweep, int s, int row) {
            for (int k = 0; k < kept_rows; ++k) {
                from[k] = sweep.populations(s, solid ? row + k - 1 : row);
            }
        }
        /// Those with component `cz` along the last axis that come in to a pack of cells.
        template <int cz>
        LBM_HD void gather(Index place, V (&h)[S::Q]) const {
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                if constexpr (S::c[i][S::D - 1] == cz) {
                    constexpr int k = S::D == 3 ? 1 - S::c[i][1] : 0;
                    h[i] = load_pack<Real, W>(from[k] + i * pitch + place - S::c[i][0]);
                }
            });
        }
    };

    /// Collides cells of a layer with the sums of the layer above; `both` are those of the others. Their moments, with
    /// `then` of 1, or their populations, with 2, go to `to`.
    template <int then>
    LBM_HD void collide(int x, Index place, const Real* both, const LayerSums<S, V>& above,
                        const CellForce<S, V>& force, Real* to, Index to_stride) const {
        TwoLayers<S, V> before;
        before.for_each([&]<int k>(V& number)
                            LBM_INLINE_LAMBDA { number = load_pack<Real, W>(both + k * pitch + place); });
        const IncomingMoments<S, V> in = add_layer_above<S>(before, above);
        StoredMoments<S, V> m = collided<S, Collision>(in, force, compressibility_, parameters_);
        if constexpr (then == 2) {
            put_populations(m, force, to + place);
        } else {
            put_moments(m, to, x, to_stride);
        }
    }

    /// Sums the populations that come from the layer above `layer`, of a target row. With `then` of 1 or 2 the cells of
    /// `layer` collide, and their moments or their populations go to `to`. Here memory is asked for what will be read,
    /// and not where a row is rebuilt: requests one after the other would wait.
    template <int then>
    [[gnu::noinline]] void collect(int s, int row, int layer, Real* to, Index to_stride, const Real* ahead) const {
        const RowForce force(a_.force, s + 1, row, layer, image_of_row(row));
        Real* const below = sums(s, row);
        Real* const both = below + LayerSums<S, V>::numbers * pitch;
        const RowsAround rows(*this, s, row);
        for_packs(first_x(s + 1), end_x(s + 1), [&](int x, Index place) LBM_INLINE_LAMBDA {
            if (ahead != nullptr) {
                prefetch_moments<S, Real, W, false>(ahead, in_row(x), a_.address.population_stride);
            }
            V h[S::Q];
            rows.template gather<-1>(place, h);
            rows.template gather<0>(place, h);
            rows.template gather<1>(place, h);
            LayerSums<S, V> lower;
            lower.template for_each<1>(
                [&]<int k>(V& number) LBM_INLINE_LAMBDA { number = load_pack<Real, W>(below + k * pitch + place); });
            LayerSums<S, V> up = layer_sums<S, 1>(h);
            up.template for_each<1>([&]<int k>(const V& number)
                                        LBM_INLINE_LAMBDA { store_pack<Real, W>(below + k * pitch + place, number); });
            TwoLayers<S, V> two = add_own_layer<S>(lower, layer_sums<S, 0>(h));
            if constexpr (then != 0) {
                const LayerSums<S, V> above = layer_sums<S, -1>(h);
                collide<then>(x, place, both, above, force.at(in_row(x)), to, to_stride);
            }
            two.for_each([&]<int k>(const V& number)
                             LBM_INLINE_LAMBDA { store_pack<Real, W>(both + k * pitch + place, number); });
        });
    }

    /// Stores the moments of a pack of cells of a row, behind whose last one there may be cells of a halo or of the
    /// next tile.
    LBM_HD void put_moments(StoredMoments<S, V>& m, Real* row, int x, Index stride) const {
        const int cells = end_cell() - x;
        store_moments(m, row, x, stride, cells);
        if (cells >= W) {
            prefetch_moments<S, Real, W, true>(row + a_.address.row_stride, x, stride);
        }
    }

    const Parameters& parameters_;
};

template <class Collision, class Real, bool forced>
void update_moments(const MomentArguments& a) {
    using Parameters = typename Collision::template Parameters<Real>;
    const Laminar<Parameters> laminar{parameters_from<Parameters>(a.parameters)};
    const Parameters& parameters = laminar;
    if (parameters.smagorinsky_factor > 0) {
        MomentSweep<Collision, Real, Parameters, forced>(a, parameters).run();
    } else {
        MomentSweep<Collision, Real, Laminar<Parameters>, forced>(a, laminar).run();
    }
}

template <class Collision, class Real>
void update_moments(const MomentArguments& a) {
    if (a.force.is_any) {
        update_moments<Collision, Real, true>(a);
    } else {
        update_moments<Collision, Real, false>(a);
    }
}

}  // namespace
}  // namespace lbm::cpu
