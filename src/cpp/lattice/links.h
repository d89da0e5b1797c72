// The place of every link of a cell, through faces of the block too.
#pragma once

#include "address.h"
#include "arithmetic.h"
#include "streaming.h"

namespace lbm {

/// Where the populations lie that departed from a cell in the last step, and those that arrive in it in the next one.
template <class S>
class NearestNeighborOffsets {
public:
    /// `phase` is that of the last step.
    LBM_HD NearestNeighborOffsets(const Address& a, Phase phase, int x, int y, int z)
        : own_(a.row(y, z, 0) + x),
          stride_(a.population_stride),
          reversed_(outgoing_slot<S>(phase, 1).slot != 1),  // as all populations are, see streaming.h
          starts_row_(!a.self_periodic[0] && x == 0),
          ends_row_(!a.self_periodic[0] && x == a.nx - 1),
          column_(a.x_face_in(0, 0, y, z)),
          side_stride_(a.x_face_stride()),
          through_x_face_(a.through_x_face) {
        const Index up[3] = {a.self_periodic[0] && x == a.nx - 1 ? 1 - Index(a.nx) : 1, a.row(y + 1, z, 0) + x - own_,
                             a.row(y, z + 1, 0) + x - own_};
        const Index down[3] = {a.self_periodic[0] && x == 0 ? Index(a.nx) - 1 : -1, a.row(y - 1, z, 0) + x - own_,
                               a.row(y, z - 1, 0) + x - own_};
        // What arrives is where it departed from upstream: at home, if the last step has left it downstream.
        const bool downstream = outgoing_slot<S>(phase, 1).along != 0;
        for (int d = 0; d < 3; ++d) {
            post_collision_.up[d] = downstream ? up[d] : 0;
            post_collision_.down[d] = downstream ? down[d] : 0;
            post_streaming_.up[d] = downstream ? 0 : down[d];
            post_streaming_.down[d] = downstream ? 0 : up[d];
        }
    }

    /// Offset of what departed with velocity i.
    LBM_HD Index post_collision(int i) const {
        const int cx = Stencil<S>::component(i, 0);
        return cx < 0 && starts_row_ ? side(2, i)
               : cx > 0 && ends_row_ ? side(3, i)
                                     : slot(i) + post_collision_.along(i);
    }
    /// Offset of what arrives with velocity i.
    LBM_HD Index post_streaming(int i) const {
        const int cx = Stencil<S>::component(i, 0);
        return cx > 0 && starts_row_ ? side(0, i)
               : cx < 0 && ends_row_ ? side(1, i)
                                     : slot(i) + post_streaming_.along(i);
    }

private:
    /// Elements from a cell to its neighbours along the axes.
    struct Steps {
        Index up[3], down[3];

        LBM_HD Index along(int i) const {
            Index sum = 0;
            for (int d = 0; d < S::D; ++d) {
                const int c = Stencil<S>::component(i, d);
                sum += c > 0 ? up[d] : c < 0 ? down[d] : 0;
            }
            return sum;
        }
    };

    LBM_HD Index slot(int i) const { return own_ + (reversed_ ? Stencil<S>::opposite(i) : i) * stride_; }
    /// In one of the four groups of side columns: in at -x and +x, out at -x and +x.
    LBM_HD Index side(int group, int i) const {
        return column_ + (group * through_x_face_ + Stencil<S>::rank_through_x_face(i)) * side_stride_;
    }

    Index own_, stride_;
    bool reversed_, starts_row_, ends_row_;
    Index column_, side_stride_;
    int through_x_face_;
    Steps post_collision_, post_streaming_;
};

/// The same of a lattice whose halo is several cells deep (Address::halo_x). It streams between two lattices alone:
/// what departs stays in the cell's own slots, and in those of the halo lies what departed there.
template <class S>
class LongRangeOffsets {
public:
    LBM_HD LongRangeOffsets(const Address& a, int x, int y, int z)
        : own_(a.row(y, z, 0) + x), stride_(a.population_stride) {}
    LBM_HD LongRangeOffsets(const Address& a, Phase /*of the last step*/, int x, int y, int z)
        : LongRangeOffsets(a, x, y, z) {}

    LBM_HD Index post_collision(int i) const { return own_ + i * stride_; }

private:
    Index own_, stride_;
};

template <class S, bool far>
struct OffsetsOf {
    using type = NearestNeighborOffsets<S>;
};
template <class S>
struct OffsetsOf<S, true> {
    using type = LongRangeOffsets<S>;
};
template <class S>
using CellOffsets = typename OffsetsOf<S, Stencil<S>::multispeed>::type;

/// Of one population, `phase` being that of the last step.
template <class S>
LBM_HD Index post_collision_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    return CellOffsets<S>(a, phase, x, y, z).post_collision(i);
}
template <class S>
LBM_HD Index post_streaming_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    return CellOffsets<S>(a, phase, x, y, z).post_streaming(i);
}

}  // namespace lbm
