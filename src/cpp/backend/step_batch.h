// Launches the work of several blocks of one device together, because the launches of small blocks cost more than what
// they compute.
#pragma once

#include <functional>
#include <vector>

namespace lbm::backend {

class StepBatch {
public:
    StepBatch() = default;
    StepBatch(const StepBatch&) = delete;
    StepBatch& operator=(const StepBatch&) = delete;
    virtual ~StepBatch() = default;

    /// Makes the work that follows wait for what has been requested of the blocks one by one.
    virtual void begin() = 0;
    /// Calls work[k], which requests work of block k alone, and launches what all of them have requested: the first
    /// launches of all blocks, then the second ones, and so on.
    virtual void run(const std::vector<std::function<void()>>& work) = 0;
    /// Makes the work that is requested of the blocks one by one from now on wait for that of run().
    virtual void end() = 0;
};

}  // namespace lbm::backend
