// A block as plans see it: where it lies in the domain, and where its numbers lie in its memory.
#pragma once

#include <cstddef>
#include <vector>

#include "../lattice/address.h"
#include "domain.h"

namespace lbm::engine {

struct BlockPlacement {
    int offset[3];
    Address address;          // and the size
    int stored[6] = {};       // numbers that each cell before a face keeps
    int number_elements = 1;  // of the lattice, that one of them takes

    bool holds(const int (&cell)[3]) const {
        const int size[3] = {address.nx, address.ny, address.nz};
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
            inside = inside && cell[d] >= offset[d] && cell[d] < offset[d] + size[d];
        }
        return inside;
    }
};

/// Finds the block that holds a cell of the domain; blocks tile it.
class BlockFinder {
public:
    /// For one who asks about block `own` most.
    BlockFinder(const std::vector<BlockPlacement>& blocks, int own) : blocks_(blocks), own_(own), last_(own) {}

    int operator()(const int (&cell)[3]) {
        if (blocks_[std::size_t(own_)].holds(cell)) {
            return own_;
        }
        if (!blocks_[std::size_t(last_)].holds(cell)) {
            last_ = 0;
            while (!blocks_[std::size_t(last_)].holds(cell)) {
                ++last_;
            }
        }
        return last_;
    }

private:
    const std::vector<BlockPlacement>& blocks_;
    const int own_;
    int last_;  // a border of blocks is met cell after cell
};

}  // namespace lbm::engine
