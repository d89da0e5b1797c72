// The place of every link of a cell, through faces of the block too.
#pragma once

#include "address.h"
#include "arithmetic.h"
#include "streaming.h"

namespace lbm {

/// Where the populations lie that departed from a cell in the last step, and those that arrive in it in the next one.
template <class S>
class NearPlaces {
public:
    /// `phase` is that of the last step.
    LBM_HD NearPlaces(const Address& a, Phase phase, int x, int y, int z)
        : own_(a.row(y, z, 0) + x),
          stride_(a.population_stride),
          reversed_(departing<S>(phase, 1).slot != 1),  // as all populations are, see streaming.h
          starts_row_(!a.wraps[0] && x == 0),
          ends_row_(!a.wraps[0] && x == a.nx - 1),
          column_(a.side_in(0, 0, y, z)),
          side_stride_(a.side_stride()),
          crossing_(a.crossing) {
        const Index up[3] = {a.wraps[0] && x == a.nx - 1 ? 1 - Index(a.nx) : 1, a.row(y + 1, z, 0) + x - own_,
                             a.row(y, z + 1, 0) + x - own_};
        const Index down[3] = {a.wraps[0] && x == 0 ? Index(a.nx) - 1 : -1, a.row(y - 1, z, 0) + x - own_,
                               a.row(y, z - 1, 0) + x - own_};
        // What arrives is where it departed from upstream: at home, if the last step has left it downstream.
        const bool downstream = departing<S>(phase, 1).along != 0;
        for (int d = 0; d < 3; ++d) {
            departed_.up[d] = downstream ? up[d] : 0;
            departed_.down[d] = downstream ? down[d] : 0;
            arriving_.up[d] = downstream ? 0 : down[d];
            arriving_.down[d] = downstream ? 0 : up[d];
        }
    }

    /// Offset of what departed with velocity i.
    LBM_HD Index departed(int i) const {
        const int cx = Stencil<S>::component(i, 0);
        return cx < 0 && starts_row_ ? side(2, i) : cx > 0 && ends_row_ ? side(3, i) : slot(i) + departed_.along(i);
    }
    /// Offset of what arrives with velocity i.
    LBM_HD Index arriving(int i) const {
        const int cx = Stencil<S>::component(i, 0);
        return cx > 0 && starts_row_ ? side(0, i) : cx < 0 && ends_row_ ? side(1, i) : slot(i) + arriving_.along(i);
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
        return column_ + (group * crossing_ + Stencil<S>::crossing_rank(i)) * side_stride_;
    }

    Index own_, stride_;
    bool reversed_, starts_row_, ends_row_;
    Index column_, side_stride_;
    int crossing_;
    Steps departed_, arriving_;
};

/// The same of a lattice whose halo is several cells deep (Address::halo_x). It streams between two lattices alone:
/// what departs stays in the cell's own slots, and in those of the halo lies what departed there.
template <class S>
class FarPlaces {
public:
    LBM_HD FarPlaces(const Address& a, int x, int y, int z) : own_(a.row(y, z, 0) + x), stride_(a.population_stride) {}
    LBM_HD FarPlaces(const Address& a, Phase /*of the last step*/, int x, int y, int z) : FarPlaces(a, x, y, z) {}

    LBM_HD Index departed(int i) const { return own_ + i * stride_; }

private:
    Index own_, stride_;
};

template <class S, bool far>
struct PlacesOf {
    using type = NearPlaces<S>;
};
template <class S>
struct PlacesOf<S, true> {
    using type = FarPlaces<S>;
};
template <class S>
using CellPlaces = typename PlacesOf<S, Stencil<S>::multispeed>::type;

/// Of one population, `phase` being that of the last step.
template <class S>
LBM_HD Index departed_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    return CellPlaces<S>(a, phase, x, y, z).departed(i);
}
template <class S>
LBM_HD Index arriving_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    return CellPlaces<S>(a, phase, x, y, z).arriving(i);
}

}  // namespace lbm
