// Runs the updates of all blocks of a process; where devices can, it records a few updates (a CUDA graph) and replays
// them.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../backend/block_state.h"
#include "../backend/recorder.h"

namespace lbm::engine {

class Executor {
public:
    /// The blocks must outlive the executor; asynchronous ones come first.
    explicit Executor(std::vector<backend::BlockState*> blocks) : blocks_(std::move(blocks)) {}

    /// Makes `updates` updates. Each either calls `update`, which updates every block once, or is replayed from a
    /// recording of such calls.
    void run(Index updates, const std::function<void()>& update);

private:
    /// The places of all blocks in their cycles. A recording may begin at any, and is replayed at the same ones.
    std::vector<int> places() const;
    /// How many updates, from the next one on, repeat the cycles of all blocks.
    Index repeating_updates() const;
    void count_replayed(Index updates) const;
    /// The number of updates after which all blocks are at the same places again.
    Index cycle() const;
    /// The number of updates in a recording: at least 16, and whole cycles.
    Index length() const;
    /// Grows whenever an address or an argument of a block's launches changes, which makes a recording obsolete.
    Index revision() const;

    std::vector<backend::BlockState*> blocks_;
    std::unique_ptr<backend::Recorder> recorder_;  // null until updates are recorded
    Index recorded_revision_ = 0;
    std::vector<int> recorded_places_;
};

}  // namespace lbm::engine
