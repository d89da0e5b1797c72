// Computes where the extra variables that boundary cells keep from step to step are stored behind the populations of a
// lattice.
#pragma once

#include "../lattice/address.h"

namespace lbm::backend {

/// Each face has the numbers of its cells, surrounded by a halo for the neighbouring cells of other blocks along the
/// face. The numbers of a cell are adjacent.
class BoundaryPlaces {
public:
    /// `stored[face]` is how many numbers each boundary cell at a face keeps.
    BoundaryPlaces(const Address& block, const int (&stored)[6]) : size_{block.nx, block.ny, block.nz} {
        for (int face = 0; face < 6; ++face) {
            stored_[face] = stored[face];
            first_[face] = total_;
            total_ += Index(stored[face]) * width(first_axis(face)) * width(second_axis(face));
        }
    }

    /// The size of a slot in numbers.
    Index total() const { return total_; }

    /// The offset of the first number of the cell at (x, y, z) at a face; the cell may lie in the halo along the face.
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
