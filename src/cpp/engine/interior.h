// The interior of a block: the cells that are updated while the halo exchange of the shell around them goes on.
#pragma once

#include <string>

#include "../backend/block_state.h"
#include "domain.h"
#include "layout.h"

namespace lbm::engine {

/// The interior of a block: cells that have no link with another block. Where the block has a neighbour across x, both
/// ends of the interior's rows are left out, as few cells as the device's update can do without. Such rows cost some
/// traffic, so that the interior has no more of them than hide the exchange. It is empty where a row has no more than
/// its ends, or where updates advance several steps. With `may_be_late` a GPU's block of nearest neighbours has a late
/// one where its rows are cut, half of those rows that have no other link with another block.
backend::Interior interior_of(const Domain& domain, const backend::BlockSpec& whole, const Block& block,
                              bool may_be_late);

/// Whether blocks have an interior under a schedule: "overlap", "blocking", or empty for the faster one. Throws
/// std::invalid_argument for any other word.
bool has_interiors(const Layout& layout, const std::string& schedule);

}  // namespace lbm::engine
