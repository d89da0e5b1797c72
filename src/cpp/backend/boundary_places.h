// The places of the numbers that the cells before the faces of a block keep, counted from the beginning of a slot.
#pragma once

#include "../lattice/address.h"

namespace lbm::backend {

/// A face has those of its cells, and around them those of the cells of other blocks along it. Numbers of a cell lie
/// side by side.
class BoundaryPlaces {
public:
    /// `stored` numbers each cell before a face of the block keeps.
    BoundaryPlaces(const Address& block, const int (&stored)[6]) : size_{block.nx, block.ny, block.nz} {
        for (int face = 0; face < 6; ++face) {
            stored_[face] = stored[face];
            first_[face] = total_;
            total_ += Index(stored[face]) * width(first_axis(face)) * width(second_axis(face));
        }
    }

    /// Of all numbers of a slot.
    Index total() const { return total_; }

    /// Of the first number of a cell before a face, or of one beside it along the face, at (x, y, z) in the block.
    Index of(int face, const int (&at)[3]) const {
        const int u = first_axis(face), v = second_axis(face);
        return first_[face] + (Index(at[v] + 1) * width(u) + (at[u] + 1)) * stored_[face];
    }

private:
    static int first_axis(int face) { return face / 2 == 0 ? 1 : 0; }
    static int second_axis(int face) { return face / 2 == 2 ? 1 : 2; }
    int width(int axis) const { return size_[axis] + 2; }

    int size_[3];
    int stored_[6];
    Index first_[6];
    Index total_ = 0;
};

}  // namespace lbm::backend
