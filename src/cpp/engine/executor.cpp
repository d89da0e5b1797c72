// Decides which updates are launched one by one and which are replayed from a recording.
#include "executor.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace lbm::engine {
namespace {

/// Updates in a recording at most. It keeps every launch of them, and blocks whose cycles have no common factor are at
/// the same places again after the product of those only: such blocks are not recorded.
constexpr Index most_recorded = 160;

}  // namespace

void Executor::run(Index updates, const std::function<void()>& update) {
    const auto launch = [&](Index count) {
        for (Index k = 0; k < count; ++k) {
            update();
        }
    };
    if (recorder_ != nullptr && recorded_revision_ != revision()) {
        recorder_.reset();
    }
    const Index whole = length();
    Index elsewhere = 0;  // updates that were launched at places where the recording does not begin
    while (updates > 0) {
        const Index repeating = std::min(updates, repeating_updates());
        Index done = 1;
        if (recorder_ != nullptr && repeating >= whole && places() == recorded_places_) {
            done = repeating / whole * whole;
            recorder_->replay(done / whole);
            count_replayed(done);
            elsewhere = 0;
        } else if (recorder_ == nullptr && whole <= most_recorded && repeating >= 2 * whole) {
            auto recorder = blocks_.front()->make_recorder({blocks_.begin() + 1, blocks_.end()});
            done = recorder != nullptr ? whole : updates;
            launch(done);
            if (recorder != nullptr) {
                recorder->record([&] { launch(whole); });
                count_replayed(-whole);
                recorder_ = std::move(recorder);
                recorded_revision_ = revision();
                recorded_places_ = places();
            }
        } else {
            launch(1);
            elsewhere += repeating >= whole ? 1 : 0;
        }
        updates -= done;
        if (elsewhere > cycle()) {  // as after a restart, from which on no update begins as the recorded ones did
            recorder_.reset();
            elsewhere = 0;
        }
    }
}

std::vector<int> Executor::places() const {
    std::vector<int> all;
    all.reserve(blocks_.size());
    for (const backend::BlockState* block : blocks_) {
        all.push_back(block->place_in_cycle());
    }
    return all;
}

Index Executor::repeating_updates() const {
    Index least = std::numeric_limits<Index>::max();
    for (const backend::BlockState* block : blocks_) {
        least = std::min(least, block->updates_in_cycle());
    }
    return least;
}

void Executor::count_replayed(Index updates) const {
    for (backend::BlockState* block : blocks_) {
        block->count_replayed(updates);
    }
}

Index Executor::cycle() const {
    Index cycle = 2;  // the exchange alternates between two sets of events
    for (const backend::BlockState* block : blocks_) {
        cycle = std::lcm(cycle, block->updates_of_cycle());
    }
    return cycle;
}

Index Executor::length() const {
    constexpr Index least = 16;
    return (least + cycle() - 1) / cycle() * cycle();
}

Index Executor::revision() const {
    return std::accumulate(blocks_.begin(), blocks_.end(), Index(0),
                           [](Index sum, const backend::BlockState* block) { return sum + block->revision(); });
}

}  // namespace lbm::engine
