// Copies from the ends of another block's rows, by way of the columns that the other block gathers.
#pragma once

#include <algorithm>

#include "../backend/links.h"
#include "block_placement.h"

namespace lbm::engine {

/// The copies of an import in two parts: those within the other block into its columns (backend/end_columns.h), and
/// those from there, or directly from its lattice, into the importing block. Both sides list the same places.
struct GatheredCopies {
    backend::ByPhase<std::vector<backend::CopyRun>> gather, pull;

    GatheredCopies(const backend::ByPhase<std::vector<backend::CopyRun>>& copies, const std::vector<Phase>& phases,
                   const BlockPlacement& from)
        : gather(phases), pull(phases) {
        const Index stride = from.address.row_stride;
        for (const Phase phase : phases) {
            for (backend::CopyRun run : copies[phase]) {
                const bool along_rows = run.count > 1 && run.source_stride > 0 && run.source_stride % stride == 0;
                const Index place = along_rows ? from.columns.place(from.address, run.source) : -1;
                if (place >= 0) {
                    const Index step = run.source_stride / stride;
                    gather[phase].push_back({place, run.source, step, run.source_stride, run.count});
                    run.source = place;
                    run.source_stride = step;
                }
                pull[phase].push_back(run);
            }
        }
    }

    bool gathers() const {
        return std::any_of(gather.begin(), gather.end(), [](const auto& runs) { return !runs.empty(); });
    }
};

}  // namespace lbm::engine
