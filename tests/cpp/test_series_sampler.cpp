// Tests that a series has each sample of all blocks or not at all, whichever block fails, and that no chunk is there in
// part.
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../../src/cpp/engine/series_sampler.h"
#include "check.h"

namespace {

using lbm::Index;

/// A block whose samples are the numbers 0, 1 and so on, and which fails when it is told to.
class CountingBlock final : public lbm::backend::StateSamples {
public:
    void take() override {
        if (std::exchange(fails_to_take, false)) {
            throw std::runtime_error("no sample");
        }
        numbers_.push_back(next_++);
    }
    void forget_last() noexcept override { numbers_.pop_back(); }
    void forget() noexcept override { numbers_.clear(); }
    void send() override { sent += 1; }
    void collect(Index samples, std::vector<double>& numbers) override {
        if (std::exchange(fails_to_collect, false)) {
            throw std::runtime_error("nothing collected");
        }
        const auto end = numbers_.begin() + samples;
        numbers.assign(numbers_.begin(), end);
        numbers_.erase(numbers_.begin(), end);
    }

    int sent = 0;
    bool fails_to_take = false, fails_to_collect = false;

private:
    double next_ = 0;
    std::vector<double> numbers_;
};

/// A row is the numbers of all blocks.
class RowSampler final : public lbm::engine::SeriesSampler {
public:
    RowSampler(int blocks, Index chunk) : SeriesSampler(1, 0, chunk) {
        for (int k = 0; k < blocks; ++k) {
            blocks_.push_back(std::make_unique<CountingBlock>());
        }
    }
    CountingBlock& block(int k) { return static_cast<CountingBlock&>(*blocks_[std::size_t(k)]); }

private:
    void append_rows(Index samples, std::vector<double>& values) override {
        const std::size_t first = values.size();
        values.resize(first + std::size_t(samples) * blocks_.size());
        for (std::size_t k = 0; k < blocks_.size(); ++k) {
            std::vector<double> own;
            blocks_[k]->collect(samples, own);
            CHECK_EQUAL(Index(own.size()), samples);
            for (std::size_t row = 0; row < own.size(); ++row) {
                values[first + row * blocks_.size() + k] = own[row];
            }
        }
    }
};

TEST(series_sampler_has_a_sample_of_all_blocks_or_of_none) {
    RowSampler sampler(3, 100);
    sampler.sample(1);
    sampler.block(1).fails_to_take = true;
    CHECK_THROWS(std::runtime_error, "no sample", sampler.sample(2));
    CHECK_EQUAL(sampler.pending(), 1);
    sampler.sample(3);
    const lbm::engine::Series series = sampler.take();
    CHECK(series.steps == std::vector<Index>({1, 3}));
    CHECK(series.values == std::vector<double>({0, 0, 0, 2, 1, 1}));  // the first block's second one is forgotten
}

TEST(series_sampler_has_a_chunk_as_a_whole_or_not) {
    RowSampler sampler(2, 2);
    for (const Index step : {1, 2, 3, 4, 5}) {
        sampler.sample(step);
    }
    CHECK_EQUAL(sampler.pending(), 3);  // a chunk is complete once the next one is full
    CHECK_EQUAL(sampler.block(0).sent, 2);
    sampler.block(1).fails_to_collect = true;
    CHECK_THROWS(std::runtime_error, "nothing collected", sampler.sample(6));
    CHECK_EQUAL(sampler.pending(), 0);
    for (const Index step : {7, 8, 9}) {
        sampler.sample(step);
    }
    const lbm::engine::Series series = sampler.take();
    CHECK(series.steps == std::vector<Index>({1, 2, 7, 8, 9}));
    CHECK(series.values == std::vector<double>({0, 0, 1, 1, 6, 6, 7, 7, 8, 8}));
}

TEST(series_sampler_refuses_wrong_periods) {
    class Idle final : public lbm::engine::Sampler {
    public:
        using Sampler::Sampler;
        void sample(Index /*step*/) override {}
    };
    CHECK_THROWS(std::invalid_argument, "every, start: 0, 0 given", Idle(0, 0));
    CHECK_THROWS(std::invalid_argument, "every, start: 1, -1 given", Idle(1, -1));
    const Idle idle(5, 3);
    CHECK_EQUAL(idle.next_after(0), 3);
    CHECK_EQUAL(idle.next_after(3), 8);
    CHECK_EQUAL(idle.next_after(7), 8);
}

}  // namespace
