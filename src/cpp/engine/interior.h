// The interior of a block: the rows that are updated while the halo exchange of the shell around them goes on.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "../backend/block_state.h"
#include "domain.h"
#include "layout.h"

namespace lbm::engine {

/// The rows of a block that lie in no halo of another block. Rows are never divided, so the interior is empty where a
/// block has a neighbour across x.
inline backend::RowBox interior_of(const Domain& domain, int halo_depth, const Block& block) {
    int first[3], size[3];
    for (int a = 0; a < 3; ++a) {
        const bool around = is_periodic(domain.faces[2 * a]) && block.size[a] < domain.size[a];
        const int below = around || block.offset[a] > 0 ? halo_depth : 0;
        const int above = around || block.offset[a] + block.size[a] < domain.size[a] ? halo_depth : 0;
        first[a] = below;
        size[a] = std::max(0, block.size[a] - below - above);
    }
    if (size[0] < block.size[0] || size[1] == 0 || size[2] == 0) {
        return {};
    }
    return {first[1], first[2], size[1], size[2]};
}

/// Whether blocks have an interior under a schedule: "overlap", "blocking", or empty for the faster one. Throws
/// std::invalid_argument for any other word.
inline bool has_interiors(const Layout& layout, const std::string& schedule) {
    if (schedule.empty()) {  // copies between blocks of one process on the CPU leave nothing to overlap with
        return std::any_of(layout.blocks().begin(), layout.blocks().end(),
                           [](const Block& block) { return block.device != "cpu" || block.rank != 0; });
    }
    if (schedule != "overlap" && schedule != "blocking") {
        throw std::invalid_argument("schedule: '" + schedule +
                                    "' given, must be overlap or blocking (LBMGPU_SCHEDULE)");
    }
    return schedule == "overlap";
}

}  // namespace lbm::engine
