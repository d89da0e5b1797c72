// The cells of a block before faces whose conditions make all populations at once that come in through them, and the
// numbers that these cells keep.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "layout.h"

namespace lbm::engine {

struct BoundaryPlan {
    /// A link that comes in through such a face into a cell of the block.
    struct Incoming {
        int x, y, z;
        int face;
        int i;
    };
    /// The numbers of a cell beside those of the block, which another block has; places are counted in numbers.
    struct Copy {
        Index target;
        int block;
        Index source;
        int count;
    };

    BoundaryPlan() = default;
    /// For block `own` of all blocks, which tile the domain.
    BoundaryPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own, std::vector<Incoming> links);

    std::vector<backend::BoundaryCell> cells;  // but for values
    std::vector<Index> places;                 // of each on its face of the domain
    std::vector<Copy> copies;
    Index numbers = 0;  // of all cells
};

/// Throws std::invalid_argument where a block ends before the cells inwards that the condition of a face reads.
void check_boundary_cells(const Domain& domain, const Layout& layout);

}  // namespace lbm::engine
