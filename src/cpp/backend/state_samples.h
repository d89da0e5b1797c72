// What takes samples of the state of one block between its steps, and keeps them in the memory of its device for a
// while.
#pragma once

#include <vector>

#include "../lattice/portability.h"

namespace lbm::backend {

class StateSamples {
public:
    StateSamples() = default;
    StateSamples(const StateSamples&) = delete;
    StateSamples& operator=(const StateSamples&) = delete;
    virtual ~StateSamples() = default;

    /// Takes a sample of the state of now. A block on a GPU is only given the work, and the host does not wait. A call
    /// that throws takes none.
    virtual void take() = 0;
    /// Forgets the last sample, which the last call of take() has taken.
    virtual void forget_last() noexcept = 0;
    /// Forgets all samples that have not been collected.
    virtual void forget() noexcept = 0;
    /// Has the samples taken so far brought to the host's memory while steps and further samples go on.
    virtual void send() {}
    /// Sets `numbers` to those of the first so many samples that have not been collected, one sample after the other.
    /// The host waits for these only. A caller that gives the same vector each time spares memory anew for each chunk.
    virtual void collect(Index samples, std::vector<double>& numbers) = 0;
};

}  // namespace lbm::backend
