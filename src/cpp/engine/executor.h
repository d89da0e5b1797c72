// Runs the updates of all blocks of a process, and has the devices record and replay them where they can.
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
    /// The blocks must outlive it; those that are asynchronous come first.
    explicit Executor(std::vector<backend::BlockState*> blocks) : blocks_(std::move(blocks)) {}

    /// Calls `update`, which asks every block for an update, so many times, or replays a recording of some of the
    /// calls.
    void run(Index updates, const std::function<void()>& update);

private:
    /// Whether the updates to come are those that a recording repeats.
    bool at_start() const;
    /// Updates of a recording.
    Index length() const;
    /// Grows with what blocks are launched with.
    Index revision() const;

    std::vector<backend::BlockState*> blocks_;
    std::unique_ptr<backend::Recorder> recorder_;  // null before something is recorded
    Index recorded_revision_ = 0;
};

}  // namespace lbm::engine
