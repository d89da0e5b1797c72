// The halo plan of a block whose halo is several cells deep (D2Q37, or several steps a launch): copies from other
// blocks and through periodic faces, and the halo cells behind walls: columns, and corners of two walls.
//
// Of a halo cell only those populations are copied that lead into the block, or into the cells around it that an update
// of several steps computes as well. All populations are copied of halo cells before a wall that the halo reaches, as
// the halo behind that wall is computed from them. So are all numbers of all halo cells that keep moments.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "wall_terms.h"

namespace lbm::engine {

struct LongRangePlan {
    /// The plan of block `own`; `blocks` are all blocks, which tile the domain.
    LongRangePlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own);

    std::vector<backend::CopyRun> copies;                // within the block
    std::vector<std::vector<backend::CopyRun>> imports;  // by source block
    std::vector<backend::WallColumn> columns;
    std::vector<backend::WallCorner> corners;
    // The temperature of the wall before each column, smoothed along the wall, and its first and second derivative
    // there; no terms for adiabatic walls.
    WallTerms temperatures, gradients, curvatures;
};

}  // namespace lbm::engine
