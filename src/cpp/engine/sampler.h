// What takes samples of an engine's state between two of its steps: statistics of cells, numbers at points.
#pragma once

#include "../backend/block_state.h"

namespace lbm::engine {

/// Looks at the state after some of the steps of an engine, without the host's program in between.
class Sampler {
public:
    Sampler() = default;
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;
    virtual ~Sampler() = default;

    /// The first step after `step` that is followed by a sample.
    virtual Index next_after(Index step) const = 0;
    /// Takes a sample of the state after `step` steps. Blocks on GPUs may be given work only, which they complete in
    /// the order of their steps.
    virtual void sample(Index step) = 0;
};

}  // namespace lbm::engine
