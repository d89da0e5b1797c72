// Records a row of numbers after each of some steps: fields at points, forces on a body or a wall.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "../backend/point_samples.h"
#include "../backend/state_samples.h"
#include "../comm/communicator.h"
#include "sampler.h"

namespace lbm::engine {

/// The steps after which samples were taken, and as many numbers of each.
struct Series {
    std::vector<Index> steps;
    std::vector<double> values;
};

/// The blocks of this process take samples, and keep them in the memory of their devices for a chunk of many. The rows
/// are made of those of all ranks, which complete a chunk together: once the next one is full, so that devices have had
/// time to bring it over, and nobody waits. A sample that an error interrupts is absent as a whole, and so is a chunk.
class SeriesSampler : public Sampler {
public:
    SeriesSampler(Index every, Index start, Index samples_of_chunk)
        : Sampler(every, start), samples_of_chunk_(samples_of_chunk) {}

    void sample(Index step) override;

    /// How many samples were taken that are in no complete chunk; the same on all ranks.
    Index pending() const { return Index(steps_.size()); }
    /// Completes all samples and gives what has been recorded since the last call, the same on all ranks. Collective if
    /// samples are pending.
    Series take();

protected:
    /// What a block takes samples with.
    std::vector<std::unique_ptr<backend::StateSamples>> blocks_;

private:
    /// Appends the rows of so many samples that the blocks have taken. Collective.
    virtual void append_rows(Index samples, std::vector<double>& values) = 0;
    /// Completes the first so many of the pending samples.
    void complete(Index samples);

    Index samples_of_chunk_;
    std::vector<Index> steps_;  // of the pending samples
    Index sent_ = 0;            // how many of them, the first, have been sent
    std::vector<double> rows_;  // of a chunk, while it is completed
    Series series_;
};

/// Where and of what points are recorded.
struct PointSetup {
    std::vector<backend::Cell> cells;  // of the domain, each once
    backend::PointFields fields;
    // Point p is the sum of weights[k] times the numbers of cell number[k], k from first[p] to before first[p + 1]; a
    // point without cells is not a number.
    std::vector<Index> first, number;
    std::vector<double> weights;
};

/// Samples that take up to so many numbers of the host's memory are completed together.
constexpr Index numbers_of_chunk = Index(1) << 19;

}  // namespace lbm::engine
