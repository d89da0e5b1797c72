// Builds runs of copies with constant strides.
#include "copy_runs.h"

namespace lbm::engine {

using backend::CopyRun;

void append(std::vector<CopyRun>& runs, Index target, Index source) {
    if (!runs.empty()) {
        CopyRun& run = runs.back();
        const Index target_step = target - (run.target + (run.count - 1) * run.target_stride);
        const Index source_step = source - (run.source + (run.count - 1) * run.source_stride);
        if (run.count == 1 && target_step > 0) {
            run.target_stride = target_step;
            run.source_stride = source_step;
            run.count = 2;
            return;
        }
        if (run.count > 1 && target_step == run.target_stride && source_step == run.source_stride) {
            ++run.count;
            return;
        }
    }
    runs.push_back({target, source, 1, 1, 1});
}

void cut_long_runs(std::vector<CopyRun>& runs) {
    constexpr int longest = 1024;
    std::vector<CopyRun> cut;
    cut.reserve(runs.size());
    for (CopyRun run : runs) {
        while (run.count > longest) {
            CopyRun part = run;
            part.count = longest;
            cut.push_back(part);
            run.target += longest * run.target_stride;
            run.source += longest * run.source_stride;
            run.count -= longest;
        }
        cut.push_back(run);
    }
    runs = std::move(cut);
}

}  // namespace lbm::engine
