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
    /// Forgets the last sample, taken after the last call of collect().
    virtual void forget_last() noexcept = 0;
    /// Forgets all samples that have not been collected.
    virtual void forget() noexcept = 0;
    /// Returns the numbers of the samples taken since the last call, one sample after the other.
    virtual std::vector<double> collect() = 0;
};

}  // namespace lbm::backend
