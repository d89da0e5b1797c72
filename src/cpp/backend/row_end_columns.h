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
        : numbers_(static_cast<char*>(numbers)), ny_(address.ny), rows_(UInt32(address.x_face_stride())) {}

    static Index bytes(const Address& a, int ends) {
        const Index rows = a.x_face_stride();
        const bool replaced = row_end(ends, 0).replaced || row_end(ends, 1).replaced;
        return replaced ? replaced_flags(rows) + 2 * rows : replaced_begin * rows;
    }
    /// The offset in bytes of the flags of replaced cells, a byte for each row of the two faces.
    LBM_HD static Index replaced_flags(Index rows) { return flags_begin * rows; }

    /// Sums of the cell that lies k cells inwards from a face.
    LBM_HD void put_sums(int face, int k, int y, int z, Real deviation, const Real (&momentum)[3]) const {
        sum(face, k, 0, y, z) = deviation;
        for (int d = 0; d < S::D; ++d) {
            sum(face, k, 1 + d, y, z) = momentum[d];
        }
    }
    LBM_HD void get_sums(int face, int k, int y, int z, Real& deviation, Real (&momentum)[3]) const {
        deviation = sum(face, k, 0, y, z);
        for (int d = 0; d < 3; ++d) {
            momentum[d] = d < S::D ? sum(face, k, 1 + d, y, z) : Real(0);
        }
    }
    /// Population i as rounded for storage: of the cell at the face if c_x = 0, else of the next one inwards.
    LBM_HD Real& population(int face, int i, int y, int z) const {
        return *at<Real>(populations_begin + UInt32(face * S::Q + i) * sizeof(Real), y, z);
    }

    /// Population i with which the next update of the cell at a face begins.
    LBM_HD Stored& replaced(int face, int i, int y, int z) const {
        return *at<Stored>(replaced_begin + UInt32(face * S::Q + i) * sizeof(Stored), y, z);
    }
    LBM_HD bool is_replaced(int face, int y, int z) const {
        return *at<unsigned char>(flags_begin + UInt32(face), y, z) != 0;
    }

private:
    // Where columns begin, in bytes a row.
    static constexpr UInt32 populations_begin = 6 * (S::D + 1) * sizeof(Real);
    static constexpr UInt32 replaced_begin = populations_begin + 2 * S::Q * sizeof(Real);
    static constexpr UInt32 flags_begin = replaced_begin + 2 * S::Q * sizeof(Stored);

    /// A number of the sums of a cell. Those of the cells at the faces are those of EndSums.
    LBM_HD Real& sum(int face, int k, int number, int y, int z) const {
        return *at<Real>(UInt32((2 * k + face) * (S::D + 1) + number) * sizeof(Real), y, z);
    }
    /// The number of a row in the column of `Number` that begins at `column` bytes a row. The product of two numbers of
    /// 32 bits is one instruction of a GPU, together with the sum.
    template <class Number>
    LBM_HD Number* at(UInt32 column, int y, int z) const {
        char* const row = numbers_ + (Index(z) * ny_ + y) * Index(sizeof(Number));
        return reinterpret_cast<Number*>(row + UInt64(rows_) * column);
    }

    char* numbers_;
    int ny_;
    UInt32 rows_;
};

}  // namespace lbm::backend
