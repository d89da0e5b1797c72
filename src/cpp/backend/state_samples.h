// What takes samples of the state of one block between its steps, and keeps them in the memory of its device for a
// while.
#pragma once

#include <vector>

namespace lbm::backend {

class StateSamples {
public:
    StateSamples() = default;
    StateSamples(const StateSamples&) = delete;
    StateSamples& operator=(const StateSamples&) = delete;
    virtual ~StateSamples() = default;

    /// Takes a sample of the state of now. A block on a GPU is only given the work, and the host does not wait.
    virtual void take() = 0;
    /// Returns the numbers of the samples taken since the last call, one sample after the other.
    virtual std::vector<double> collect() = 0;
};

}  // namespace lbm::backend
