// Where in memory the population of each link of a cell lies, links through faces of the block included.
#pragma once

#include "address.h"
#include "arithmetic.h"
#include "streaming.h"

namespace lbm {

/// Offsets of a cell's post-collision populations of the last step and of its incoming populations of the next one, for
/// stencils of nearest neighbours. Boundaries, halos and fields use them, whatever the streaming pattern.
template <class S>
class NearestNeighborOffsets {
public:
    /// `phase` is that of the last step.
    LBM_HD NearestNeighborOffsets(const Address& a, Phase phase, int x, int y, int z)
        : cell_(a.row(y, z, 0) + x),
          stride_(a.population_stride),
          opposite_slots_(outgoing_slot<S>(phase, 1).slot != 1),  // one rule for all, see streaming.h
          at_row_start_(!a.self_periodic[0] && x == 0),
          at_row_end_(!a.self_periodic[0] && x == a.nx - 1),
          x_face_buffers_(a.x_face_in(0, 0, y, z)),
          x_face_stride_(a.x_face_stride()),
          through_x_face_(a.through_x_face),
          leaving_(2 + 2 * phase_index(phase)) {
        const Index up[3] = {a.self_periodic[0] && x == a.nx - 1 ? 1 - Index(a.nx) : 1, a.row(y + 1, z, 0) + x - cell_,
                             a.row(y, z + 1, 0) + x - cell_};
        const Index down[3] = {a.self_periodic[0] && x == 0 ? Index(a.nx) - 1 : -1, a.row(y - 1, z, 0) + x - cell_,
                               a.row(y, z - 1, 0) + x - cell_};
        // An incoming population lies where the upstream neighbour wrote it: in a slot of this cell if the last step
        // wrote to the downstream neighbours (AAOdd), otherwise in a slot of that neighbour.
        const bool downstream = outgoing_slot<S>(phase, 1).shift != 0;
        for (int d = 0; d < 3; ++d) {
            post_collision_.up[d] = downstream ? up[d] : 0;
            post_collision_.down[d] = downstream ? down[d] : 0;
            post_streaming_.up[d] = downstream ? 0 : down[d];
            post_streaming_.down[d] = downstream ? 0 : up[d];
        }
    }

    /// Offset of f*_i, the population that left this cell with velocity i in the last step.
    LBM_HD Index post_collision(int i) const {
        const int cx = Stencil<S>::component(i, 0);
        return cx < 0 && at_row_start_ ? x_face_offset(leaving_, i)
               : cx > 0 && at_row_end_ ? x_face_offset(leaving_ + 1, i)
                                       : slot(i) + post_collision_.to_neighbor(i);
    }
    /// Offset of f_i, the population that enters this cell with velocity i in the next step.
    LBM_HD Index post_streaming(int i) const {
        const int cx = Stencil<S>::component(i, 0);
        return cx > 0 && at_row_start_ ? x_face_offset(0, i)
               : cx < 0 && at_row_end_ ? x_face_offset(1, i)
                                       : slot(i) + post_streaming_.to_neighbor(i);
    }

private:
    /// Distances in elements from a cell to its neighbours along the axes.
    struct NeighborOffsets {
        Index up[3], down[3];

        /// The distance to the neighbour at c_i.
        LBM_HD Index to_neighbor(int i) const {
            Index sum = 0;
            for (int d = 0; d < S::D; ++d) {
                const int c = Stencil<S>::component(i, d);
                sum += c > 0 ? up[d] : c < 0 ? down[d] : 0;
            }
            return sum;
        }
    };

    LBM_HD Index slot(int i) const { return cell_ + (opposite_slots_ ? Stencil<S>::opposite(i) : i) * stride_; }
    /// Offset in one of the groups of x-face buffers: incoming at -x and +x, then outgoing at -x and +x of each phase.
    LBM_HD Index x_face_offset(int group, int i) const {
        return x_face_buffers_ + (group * through_x_face_ + Stencil<S>::rank_through_x_face(i)) * x_face_stride_;
    }

    Index cell_, stride_;
    bool opposite_slots_, at_row_start_, at_row_end_;
    Index x_face_buffers_, x_face_stride_;
    int through_x_face_;
    int leaving_;  // group of the populations that left at -x in the last step
    NeighborOffsets post_collision_, post_streaming_;
};

/// The same for a lattice whose halo is several cells deep (Address::halo_x). Such a lattice has A-B streaming only:
/// post-collision populations lie in the slots of their own cell, those of halo cells too.
template <class S>
class LongRangeOffsets {
public:
    LBM_HD LongRangeOffsets(const Address& a, int x, int y, int z)
        : cell_(a.row(y, z, 0) + x), stride_(a.population_stride) {}
    LBM_HD LongRangeOffsets(const Address& a, Phase /*of the last step*/, int x, int y, int z)
        : LongRangeOffsets(a, x, y, z) {}

    LBM_HD Index post_collision(int i) const { return cell_ + i * stride_; }

private:
    Index cell_, stride_;
};

template <class S, bool long_range>
struct OffsetsOf {
    using type = NearestNeighborOffsets<S>;
};
template <class S>
struct OffsetsOf<S, true> {
    using type = LongRangeOffsets<S>;
};
template <class S>
using CellOffsets = typename OffsetsOf<S, Stencil<S>::multispeed>::type;

/// Offsets of a single population; `phase` is that of the last step.
template <class S>
LBM_HD Index post_collision_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    return CellOffsets<S>(a, phase, x, y, z).post_collision(i);
}
template <class S>
LBM_HD Index post_streaming_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    return CellOffsets<S>(a, phase, x, y, z).post_streaming(i);
}

}  // namespace lbm
