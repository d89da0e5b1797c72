// The work of several blocks recorded once and done again: small blocks would otherwise wait for each launch.
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

    /// Records what `work` asks the blocks for, none of which is done. All of it must have been done once before:
    /// kernels are loaded at their first launch.
    virtual void record(const std::function<void()>& work) = 0;
    /// Asks for what was recorded, so many times in a row.
    virtual void replay(Index times) = 0;
};

}  // namespace lbm::backend
