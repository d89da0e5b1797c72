// Records the work of several blocks once and replays it, because small blocks would otherwise wait for each launch.
#pragma once

#include <functional>

#include "../lattice/portability.h"

namespace lbm::backend {

class Recorder {
public:
    Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    virtual ~Recorder() = default;

    /// Records what `work` requests of the blocks, without executing it. All of it must have been executed once before,
    /// as kernels are loaded at their first launch.
    virtual void record(const std::function<void()>& work) = 0;
    /// Enqueues the recorded work so many times.
    virtual void replay(Index times) = 0;
};

}  // namespace lbm::backend
