// What a sweep over rows of cells whose state is moments (moment_rows.h) does at walls at known distances and between
// fluid cells. What comes off such a wall takes the place, in the ring, of the population that a fluid cell behind it
// has sent; so the cells at such walls keep copies of their own populations, which formulas read. An interpolated wall
// also reads what streams in against the link, and of a link along the last axis that comes from the layer before or
// behind: from below it is kept until the cell's layer is there, and from above it is added late.
#pragma once

#include "../../lattice/from_side.h"
#include "../../lattice/moment_collision.h"
#include "moment_rings.h"

namespace lbm::cpu {
namespace {

template <class Real, int W>
class MomentCutRings : protected MomentRings<Real, W> {
public:
    using Rings = MomentRings<Real, W>;
    using Rings::Rings;
    static constexpr Index pitch = MomentScratch::pitch;

protected:
    using Rings::a_, Rings::memory_, Rings::first_row_, Rings::end_row_, Rings::first_layer_, Rings::end_layer_,
        Rings::end_real_, Rings::solid, Rings::kept_rows, Rings::at, Rings::populations, Rings::sums, Rings::kept,
        Rings::stage, Rings::for_wall_cells;

    /// Where the population of velocity i lies that streams into a cell of a target row.
    template <int i>
    Real& incoming_place(int s, int row, Index at_cell) const {
        return populations(s, solid ? row - S::c[i][1] : row)[i * pitch + at_cell - S::c[i][0]];
    }
    /// The same of the velocity that is mirrored along the last axis: what streams in from an image of the own layer.
    template <int i>
    Real& place_of_image(int s, int row, Index at_cell) const {
        return incoming_place<Stencil<S>::mirror(i, S::D - 1)>(s, row, at_cell);
    }

    /// The copies of the populations of a row's cells at such walls.
    Real* copies(int s, int row) const {
        const int slot = solid ? (row + kept_rows * 1024) % kept_rows : 0;
        return stage(s) + memory_.ring + memory_.targets * (memory_.sums + memory_.kept) + slot * S::Q * pitch;
    }
    /// What streams in from below to the cells of a target row, against links from above.
    Real* streamed(int s, int row) const { return kept(s, row) + FromAbove<S>::count * pitch; }

    bool has_cuts() const { return a_.walls != nullptr && a_.walls->weights != nullptr; }
    const boundary::LinearWeights& weights(const MomentWallCell& cell, int i) const {
        const UInt32 before = cell.links & ((1U << i) - 1);
        return a_.walls->weights[cell.first + __builtin_popcount(before)];
    }

    /// Calls visit(cell, at(cell.x)) for the cells at such walls of a row of a layer that a stage computes.
    template <class Visit>
    void for_cut_cells(int s, int row, int layer, Visit&& visit) const {
        const int around = a_.steps - 1 - s, beyond = solid ? around : 0;
        if (row >= first_row_ - beyond && row < end_row_ + beyond && layer >= first_layer_ - around &&
            layer < end_layer_ + around) {
            for_wall_cells(row, layer, [&](const MomentWallCell& cell) {
                if (cell.is_cut) {
                    visit(cell, at(cell.x));
                }
            });
        }
    }
    /// Calls visit.operator()<i>() for the links of a cell with component `cz` along the last axis.
    template <int cz, class Visit>
    static void for_links(const MomentWallCell& cell, Visit&& visit) {
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if constexpr (S::c[i][S::D - 1] == cz) {
                if ((cell.links >> i & 1U) != 0) {
                    visit.template operator()<i>();
                }
            }
        });
    }

    /// Copies the populations of a row that has just been put into the ring.
    void copy_own(int s, int row, int layer) const {
        const Real* const own = populations(s, row);
        Real* const to = copies(s, row);
        for_cut_cells(s, row, layer, [&](const MomentWallCell&, Index at_cell) {
            static_for<S::Q>([&]<int i>() { to[i * pitch + at_cell] = own[i * pitch + at_cell]; });
        });
    }

    /// Adds what the links from below of a target row take of the layer above, which is in the ring, to the sums of
    /// both other layers.
    void add_late_links(int s, int row, int layer) const {
        Real* const both = sums(s, row) + LayerSums<S, Real>::numbers * pitch;
        for_cut_cells(s, row, layer, [&](const MomentWallCell& cell, Index at_cell) {
            Real late[S::Q] = {};
            for_links<1>(cell, [&]<int i>() {
                const Real streamed = incoming_place<Stencil<S>::opposite(i)>(s, row, at_cell);
                late[i] = Real(weights(cell, i).streamed) * streamed;
            });
            TwoLayers<S, Real> two;
            two.for_each([&]<int k>(Real& number) { number = both[k * pitch + at_cell]; });
            add_late<S>(two, late);
            two.for_each([&]<int k>(Real& number) { both[k * pitch + at_cell] = number; });
        });
    }

    /// Takes what a layer in the ring has for the cells of a target row above it: what streams in against their links
    /// from above; and nothing where the links from below have walls. The image above a last layer before a face with
    /// free slip sends that back as the mirrored links of the layer.
    void prepare_layer_above(int s, int row, int layer) const {
        if (layer + 1 == end_real_) {
            clear_links_to_image<-1>(s, row, layer);
            return;
        }
        Real* const against = streamed(s, row);
        for_cut_cells(s, row, layer + 1, [&](const MomentWallCell& cell, Index at_cell) {
            for_links<-1>(cell, [&]<int i>() {
                constexpr int towards = Stencil<S>::opposite(i);
                against[FromAbove<S>::rank(i) * pitch + at_cell] = incoming_place<towards>(s, row, at_cell);
            });
            for_links<1>(cell, [&]<int i>() { incoming_place<i>(s, row, at_cell) = 0; });
        });
    }
    /// Clears what the layer before a face with free slip sends to its image, and would get back through links with
    /// component `cz` along the last axis that have walls.
    template <int cz>
    void clear_links_to_image(int s, int row, int layer) const {
        for_cut_cells(s, row, layer, [&](const MomentWallCell& cell, Index at_cell) {
            for_links<cz>(cell, [&]<int i>() { place_of_image<i>(s, row, at_cell) = 0; });
        });
    }
};

}  // namespace
}  // namespace lbm::cpu
