// The cells of sponges that a block has, and how much memory they take.
#pragma once

#include <cstddef>
#include <vector>

#include "../backend/links.h"
#include "block_placement.h"

namespace lbm::engine {

/// Lists the fluid cells of a block that lie in a sponge, each once: where several sponges meet, the larger rates hold.
void add_sponge_cells(const Domain& domain, const BlockPlacement& block, backend::LinkPlan& plan);

/// The number of cells that a box has in sponges, solid ones included. Thicknesses that are larger than the domain are
/// taken for its size. Throws std::invalid_argument for a number that no face has.
Index cells_in_sponges(const int (&domain)[3], const std::vector<Sponge>& sponges, const Box& box);

}  // namespace lbm::engine
