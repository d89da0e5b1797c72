// Decides which updates are launched one by one and which are replayed from a recording.
#include "executor.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lbm::engine {

void Executor::run(Index updates, const std::function<void()>& update) {
    const auto launch = [&](Index count) {
        for (Index k = 0; k < count; ++k) {
            update();
        }
        updates -= count;
    };
    while (updates > 0 && !at_start()) {
        launch(1);
    }
    if (recorder_ != nullptr && recorded_revision_ != revision()) {
        recorder_.reset();
    }
    const Index whole = length();
    if (recorder_ == nullptr && updates >= 2 * whole) {
        if (auto recorder = blocks_.front()->make_recorder({blocks_.begin() + 1, blocks_.end()})) {
            launch(whole);
            recorder->record([&] {
                for (Index k = 0; k < whole; ++k) {
                    update();
                }
            });
            recorder_ = std::move(recorder);
            recorded_revision_ = revision();
        }
    }
    if (recorder_ != nullptr && updates >= whole) {
        recorder_->replay(updates / whole);
        updates %= whole;
    }
    launch(updates);
}

bool Executor::at_start() const {
    return std::all_of(blocks_.begin(), blocks_.end(),
                       [](const backend::BlockState* block) { return block->at_start_of_cycle(); });
}

Index Executor::length() const {
    constexpr Index least = 16;
    Index cycle = 2;  // the exchange alternates between two sets of events
    for (const backend::BlockState* block : blocks_) {
        cycle = std::lcm(cycle, block->updates_of_cycle());
    }
    return (least + cycle - 1) / cycle * cycle;
}

Index Executor::revision() const {
    return std::accumulate(blocks_.begin(), blocks_.end(), Index(0),
                           [](Index sum, const backend::BlockState* block) { return sum + block->revision(); });
}

}  // namespace lbm::engine
