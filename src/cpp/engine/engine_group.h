// A group of engines of one process that advance together: on a GPU one launch updates many of them, on the CPU the
// engines are shared among threads.
#pragma once

#include <memory>
#include <vector>

#include "engine.h"

namespace lbm::engine {

/// Small domains leave a GPU waiting between two launches, and idle at the end of each: one launch for several
/// domains pays both once. The result of each engine is that of its own step().
class EngineGroup {
public:
    /// The engines must outlive the group. `threads` is the number of threads that step engines on the CPU. Throws
    /// std::invalid_argument unless each engine is one block of one process, all of them on the CPU or all on one GPU.
    EngineGroup(std::vector<Engine*> engines, int threads);

    /// Advances every engine by so many steps. The caller holds the mutexes of all. An error in one of them is thrown
    /// after the others have finished, except on a GPU, where it leaves all of them unfinished.
    void step(Index steps);

    const std::vector<Engine*>& engines() const { return engines_; }

private:
    /// Engines on a GPU whose updates are recorded together: those at one place of their cycles, so that most launches
    /// are equal, and all others.
    struct Part {
        std::vector<Engine*> engines;
        std::unique_ptr<backend::StepBatch> batch;
        std::unique_ptr<Executor> executor;  // has recorded kernels of the batch
    };

    /// So many steps, in the midst of which no sample is due.
    void step_on_gpu(Index steps, bool more_follow);
    void step_on_cpu(Index steps);
    /// Divides the engines into parts anew where the steps of some were made apart from the others.
    void divide();

    std::vector<Engine*> engines_;
    int threads_;
    std::vector<Part> parts_;  // of engines on a GPU
};

}  // namespace lbm::engine
