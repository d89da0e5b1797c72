// The layout: the list of blocks that tile a domain exactly, each on one rank and device.
#pragma once

#include <string>
#include <vector>

#include "domain.h"

namespace lbm::engine {

/// A box of cells with the rank and the device that compute it.
struct Block {
    int offset[3];
    int size[3];
    int rank;
    std::string device;

    Index cells() const { return Index(size[0]) * size[1] * size[2]; }
    /// Whether the block touches a face of a domain of this size.
    bool is_at(int face, const int (&domain)[3]) const {
        const int axis = face / 2;
        return face % 2 == 0 ? offset[axis] == 0 : offset[axis] + size[axis] == domain[axis];
    }
};

/// Throws std::invalid_argument unless every size is 1 to 2^30 and the bytes of the domain fit a 64-bit integer.
void check_size(const int (&size)[3]);

class Layout {
public:
    /// The blocks must tile a domain of `shape` without gap or overlap; throws std::invalid_argument otherwise.
    Layout(const int (&shape)[3], std::vector<Block> blocks);

    static Layout single(const int (&shape)[3], const std::string& device);

    const std::vector<Block>& blocks() const { return blocks_; }
    /// The local subdomain of a rank: the smallest box that contains all of its blocks. The rank must have a block.
    Box window(int rank) const;

private:
    std::vector<Block> blocks_;
};

/// The cells that a process must know bodies of: those of its window and two around it, where the domain goes on,
/// possibly through periodic faces. The plan of its blocks reads the next cells; what other blocks import from them,
/// the next but one.
Box known_around(const Domain& domain, const Box& window);

/// Whether two blocks are neighbours: the halo of one contains cells of the other, possibly through periodic faces.
bool are_neighbors(const Domain& domain, int halo_depth, const Block& a, const Block& b);

}  // namespace lbm::engine
