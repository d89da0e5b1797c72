// One update of all blocks: boundaries, shells, the exchange, and beside it the interiors. Each part is a range on a
// profiler's timeline.
#include "../process/profiler_ranges.h"
#include "engine.h"

namespace lbm::engine {

void Engine::run_update(int steps) {
    using backend::Timestamp;
    using process::ProfilerRange;
    // Asynchronous blocks get their whole update before the others begin, which the host computes meanwhile.
    update_shells(asynchronous_, steps);
    update_interiors(asynchronous_);
    update_shells(synchronous_, steps);
    {
        const ProfilerRange range("lbmgpu exchange");
        exchange_->begin();
    }
    if (layout_.blocks().size() > 1 || times_single_block_) {
        record(Timestamp::Exchanged, states_);
    }
    update_interiors(synchronous_);
    {
        const ProfilerRange range("lbmgpu end of exchange");
        exchange_->end();
    }
    record(Timestamp::Exchanged, exchange_->completed_by_end());
    if (asynchronous_.empty()) {
        add_phase_times(1);
    }
}

void Engine::update_shells(const std::vector<backend::BlockState*>& states, int steps) {
    using backend::Timestamp;
    if (states.empty()) {
        return;
    }
    record(Timestamp::Begun, states);
    {
        const process::ProfilerRange range("lbmgpu boundary");
        for (backend::BlockState* state : states) {
            state->apply_boundaries();
            state->change_incoming();
        }
    }
    record(Timestamp::Filled, states);
    {
        const process::ProfilerRange range("lbmgpu shell");
        for (backend::BlockState* state : states) {
            state->update_shell(steps);
        }
    }
    record(Timestamp::ShellDone, states);
}

void Engine::update_interiors(const std::vector<backend::BlockState*>& states) {
    if (states.empty()) {
        return;
    }
    const process::ProfilerRange range("lbmgpu interior");
    record(backend::Timestamp::InteriorBegun, states);
    for (backend::BlockState* state : states) {
        state->update_interior();
    }
    record(backend::Timestamp::InteriorDone, states);
}

void Engine::supply_incoming() {
    update_halos();
    for (backend::BlockState* state : states_) {
        state->apply_boundaries();
    }
    if (layout_.blocks().size() > 1) {
        wait_for_blocks();
        exchange_->signal();
    }
    halos_are_current_ = false;  // formulas may have replaced what they read of other blocks, as those of outflows do
}

void Engine::record(backend::Timestamp timestamp, const std::vector<backend::BlockState*>& states) const {
    if (records_timestamps_) {
        for (backend::BlockState* state : states) {
            state->record(timestamp);
        }
    }
}

}  // namespace lbm::engine
