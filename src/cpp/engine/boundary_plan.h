// The boundary cells of a block: those before faces whose conditions compute all incoming populations of a cell at once
// (characteristic boundaries, for example), and the numbers that such cells keep from step to step.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "layout.h"

namespace lbm::engine {

struct BoundaryPlan {
    /// A link through such a face into a cell of the block.
    struct Incoming {
        int x, y, z;
        int face;
        int i;
    };
    /// A copy of the numbers of a neighbouring boundary cell that belongs to another block. Places count numbers from
    /// the start of those of a block.
    struct Copy {
        Index target;
        int block;
        Index source;
        int count;
    };

    BoundaryPlan() = default;
    /// The plan of block `own`; `blocks` are all blocks, which tile the domain.
    BoundaryPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own, std::vector<Incoming> links);

    std::vector<backend::BoundaryCell> cells;  // plain ones last; without the values of the faces, which change
    std::vector<Index> places;                 // index of each cell among those of its face of the domain
    std::vector<Copy> copies;
    Index numbers = 0;  // the numbers that all cells keep together

private:
    void put_plain_cells_last();
};

/// Throws std::invalid_argument if the condition of a face reads more cells inwards than the block at the face has.
void check_boundary_cells(const Domain& domain, const Layout& layout);

}  // namespace lbm::engine
