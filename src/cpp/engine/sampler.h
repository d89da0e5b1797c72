// What takes samples of an engine's state between two of its steps: statistics of cells, numbers at points.
#pragma once

#include <stdexcept>
#include <string>

#include "../lattice/portability.h"

namespace lbm::engine {

/// Looks at the state of an engine after the steps start, start + every, start + 2 every and so on, without the host's
/// program in between.
class Sampler {
public:
    /// Throws std::invalid_argument for an `every` below 1 or a negative start.
    Sampler(Index every, Index start) : every_(every), start_(start) {
        if (every < 1 || start < 0) {
            throw std::invalid_argument("every, start: " + std::to_string(every) + ", " + std::to_string(start) +
                                        " given, must be at least 1 and 0");
        }
    }
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;
    virtual ~Sampler() = default;

    /// The first step after `step` that is followed by a sample.
    Index next_after(Index step) const { return step < start_ ? start_ : step + every_ - (step - start_) % every_; }
    /// Takes a sample of the state after `step` steps. Blocks on GPUs may be given work only, which they complete in
    /// the order of their steps.
    virtual void sample(Index step) = 0;
    /// Whether it reads the incoming populations of the next step, which then are supplied before.
    virtual bool reads_incoming() const { return false; }

private:
    Index every_, start_;
};

}  // namespace lbm::engine
