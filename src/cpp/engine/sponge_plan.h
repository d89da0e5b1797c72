// The cells of sponges that a block has.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"

namespace lbm::engine {

/// The fluid cells of a block that lie in a sponge, each once: where several sponges meet, the larger rates hold.
std::vector<backend::SpongeCell> sponge_cells(const Domain& domain, const BlockPlacement& block);

}  // namespace lbm::engine
