// What the update leaves of the cells at the ends of rows, and takes there, where conditions of a face across x compute
// all incoming populations of a cell.
//
// Such a condition reads the cell's incoming populations and the moments of up to three cells, which lie as far apart
// as the rows. The update has all of them in registers at the end of a step, and stores them in columns contiguous in
// y, behind the sums of row_end_moments.h. A condition that replaces all populations of its cells stores these in
// columns too, from which the next update takes them.
#pragma once

#include "../lattice/stencil.h"
#include "row_end_moments.h"

namespace lbm::backend {

/// What there are columns of at one face.
struct RowEnd {
    int cells;         // the moments of so many cells, counted inwards: 0 to 3
    bool populations;  // post-collision populations that the cell at the face receives along the face or from inside
    bool replaced;     // populations with which the next update begins in place of those that have streamed in
};

/// What there is at both faces in one number, a template parameter of the update; 0 if there is nothing.
constexpr int row_ends(const RowEnd& low, const RowEnd& high) {
    const auto bits = [](const RowEnd& end) { return end.cells + 4 * int(end.populations) + 8 * int(end.replaced); };
    return bits(low) + 16 * bits(high);
}
LBM_HD constexpr RowEnd row_end(int ends, int face) {
    const int bits = face == 0 ? ends % 16 : ends / 16;
    return {bits % 4, bits / 4 % 2 == 1, bits / 8 == 1};
}

/// Arrays of [face -x, +x][number][z][y], y fastest: sums of the cells, of those at the face first, then populations,
/// those that replace others, and of each row whether these do.
template <class S, class Real, class Stored>
class RowEndColumns {
public:
    LBM_HD RowEndColumns(void* numbers, const Address& address)
        : numbers_(static_cast<Real*>(numbers)), address_(address) {}

    static Index bytes(const Address& a, int ends) {
        const Index rows = a.x_face_stride();
        const bool replaced = row_end(ends, 0).replaced || row_end(ends, 1).replaced;
        return replaced ? replaced_flags(rows) + 2 * rows : populations_end * rows * Index(sizeof(Real));
    }
    /// The offset in bytes of the flags of replaced cells, a byte for each row of the two faces.
    LBM_HD static Index replaced_flags(Index rows) {
        return rows * (populations_end * Index(sizeof(Real)) + 2 * S::Q * Index(sizeof(Stored)));
    }

    /// Sums of the cell that lies k cells inwards from a face.
    LBM_HD void put_sums(int face, int k, int y, int z, Real deviation, const Real (&momentum)[3]) const {
        at(sums(face, k, 0), y, z) = deviation;
        for (int d = 0; d < S::D; ++d) {
            at(sums(face, k, 1 + d), y, z) = momentum[d];
        }
    }
    LBM_HD void get_sums(int face, int k, int y, int z, Real& deviation, Real (&momentum)[3]) const {
        deviation = at(sums(face, k, 0), y, z);
        for (int d = 0; d < 3; ++d) {
            momentum[d] = d < S::D ? at(sums(face, k, 1 + d), y, z) : Real(0);
        }
    }
    /// Population i as rounded for storage: of the cell at the face if c_x = 0, else of the next one inwards.
    LBM_HD Real& population(int face, int i, int y, int z) const { return at(sums_end + face * S::Q + i, y, z); }

    /// Population i with which the next update of the cell at a face begins.
    LBM_HD Stored& replaced(int face, int i, int y, int z) const {
        auto* stored = reinterpret_cast<Stored*>(numbers_ + populations_end * address_.x_face_stride());
        return stored[(face * S::Q + i) * address_.x_face_stride() + row(y, z)];
    }
    LBM_HD bool is_replaced(int face, int y, int z) const {
        const Index rows = address_.x_face_stride();
        return reinterpret_cast<const unsigned char*>(numbers_)[replaced_flags(rows) + face * rows + row(y, z)] != 0;
    }

private:
    static constexpr Index sums_end = 6 * (S::D + 1), populations_end = sums_end + 2 * S::Q;

    /// The sums of the cells at the faces are those of EndSums.
    LBM_HD static int sums(int face, int k, int number) { return (2 * k + face) * (S::D + 1) + number; }
    LBM_HD Index row(int y, int z) const { return Index(z) * address_.ny + y; }
    LBM_HD Real& at(Index column, int y, int z) const {
        return numbers_[column * address_.x_face_stride() + row(y, z)];
    }

    Real* numbers_;
    const Address& address_;
};

}  // namespace lbm::backend
