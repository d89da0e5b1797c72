// What a block needs of places beyond its cells where its halo is several cells deep: populations of other blocks and
// through periodic faces, and columns of halo behind walls.
//
// A cell of the halo is needed for the populations that lead into the block, or to those cells around it that an update
// of several steps computes with it. It is needed as a whole where it lies before a wall that the block sees: there the
// halo behind the wall is made of it.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "wall_terms.h"

namespace lbm::engine {

struct LongRangePlan {
    /// For block `own` of all blocks, which tile the domain.
    LongRangePlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own);

    std::vector<backend::CopyRun> copies;                // within the block
    std::vector<std::vector<backend::CopyRun>> imports;  // by the block that they come from
    std::vector<backend::WallColumn> columns;
    WallTerms temperatures, gradients;  // of each column, along the wall; nothing for those behind adiabatic walls
};

}  // namespace lbm::engine
