// Samples of the force and the torque on a body or the wall of a face: six numbers, which all blocks add to.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../comm/communicator.h"
#include "series_sampler.h"

namespace lbm::engine {

/// Samples that are completed over all ranks at once, for so many numbers each.
inline Index chunk_of(Index numbers) {
    return std::clamp<Index>(numbers_of_chunk / std::max<Index>(numbers, 1), 1, 4096);
}

/// Throws if a block has not given as many numbers as it has to.
void check_count(const std::vector<double>& numbers, Index expected);

class ForceSampler final : public SeriesSampler {
public:
    ForceSampler(Index every, Index start, bool reads_incoming, std::shared_ptr<const comm::Communicator> comm)
        : SeriesSampler(every, start, chunk_of(6)), reads_incoming_(reads_incoming), comm_(std::move(comm)) {}

    bool reads_incoming() const override { return reads_incoming_; }

    void add_block(std::unique_ptr<backend::StateSamples> samples) { blocks_.push_back(std::move(samples)); }

private:
    void append_rows(Index samples, std::vector<double>& values) override {
        std::vector<double> sums(std::size_t(6 * samples));
        for (const auto& block : blocks_) {
            block->collect(samples, own_);
            check_count(own_, 6 * samples);
            std::transform(own_.begin(), own_.end(), sums.begin(), sums.begin(), std::plus<>());
        }
        comm_->sum(sums.data(), int(sums.size()));
        values.insert(values.end(), sums.begin(), sums.end());
    }

    bool reads_incoming_;
    std::shared_ptr<const comm::Communicator> comm_;
    std::vector<double> own_;  // numbers of a chunk of a block
};

}  // namespace lbm::engine
