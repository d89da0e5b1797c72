// Divides copy runs into long ones, for a warp each, and short ones, whose copies are made by a thread each.
#pragma once

#include <vector>

#include "../link_data.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// Calls long_run(run) for each long run, and single(copy) for each copy of short runs.
template <class LongRun, class Single>
void split_runs(const std::vector<backend::CopyRun>& runs, LongRun&& long_run, Single&& single) {
    constexpr int shortest = 16;
    for (const backend::CopyRun& run : runs) {
        if (run.count >= shortest) {
            long_run(run);
            continue;
        }
        for (int k = 0; k < run.count; ++k) {
            single(SingleCopy{run.target + k * run.target_stride, run.source + k * run.source_stride});
        }
    }
}

}  // namespace lbm::cuda
