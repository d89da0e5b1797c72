// How an engine advances its blocks: boundaries, updates and the exchange of each step, one by one or replayed.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine.h"
#include "interior.h"

namespace lbm::engine {

void Engine::step(Index steps) {
    if (steps < 0 || steps > max_steps - steps_) {
        throw std::invalid_argument("steps: " + std::to_string(steps) + " given after " + std::to_string(steps_) +
                                    ", must be positive and at most 2^53 together");
    }
    if (!is_whole_) {
        throw std::runtime_error("an error has left a step unfinished: set the state anew, or load a checkpoint");
    }
    prepare();
    is_whole_ = false;
    run_steps(steps);
    is_whole_ = true;
    steps_ += steps;
}

void Engine::bring_halos() {
    prepare_boundary_numbers();
    for (backend::BlockState* state : states_) {  // the exchange begins after all that has been asked for
        state->record_event(backend::EventSource::end_slot);
        state->wait_for(*state, backend::EventSource::end_slot);
    }
    if (!halos_are_current_) {
        exchange_->begin();
        exchange_->end();
        halos_are_current_ = true;
    }
}

void Engine::wait_for_blocks() const {
    for (backend::BlockState* state : states_) {
        state->record_event(backend::EventSource::end_slot);
        state->wait(backend::EventSource::end_slot);
    }
}

void Engine::run_steps(Index steps) {
    bring_halos();
    notes_ = by_themselves_.empty();
    // Each update advances as many steps as a launch does, the last one those that are left.
    const int most = spec_.state->steps_per_launch;
    const Index updates = (steps + most - 1) / most;
    const int left = int(steps - (updates - 1) * most);
    const bool notes_last = !notes_ && updates > 0 && layout_.blocks().size() > 1;
    const bool last_apart = updates > 0 && (notes_last || left < most);
    const Index alike = last_apart ? updates - 1 : updates;
    const auto update = [&] { run_update(most); };
    if (exchange_->needs_host()) {
        for (Index k = 0; k < alike; ++k) {
            update();
        }
    } else {
        executor_->run(alike, update);
    }
    if (last_apart) {
        notes_ = notes_ || notes_last;
        run_update(left);
    }
    wait_for_blocks();
    if (notes_last) {
        add_phase_times(double(updates));
    }
    exchange_->signal();
}

/// Blocks that work by themselves are asked for their interior before the host is held up by the exchange; those of the
/// host are updated while it goes on.
void Engine::run_update(int steps) {
    using backend::Timestamp;
    record(Timestamp::Begun, states_);
    for (backend::BlockState* state : states_) {
        state->apply_boundaries();
    }
    record(Timestamp::Filled, states_);
    for (backend::BlockState* state : states_) {
        state->update_shell(steps);
    }
    record(Timestamp::ShellDone, states_);
    record(Timestamp::InteriorBegun, by_themselves_);
    for (backend::BlockState* state : by_themselves_) {
        state->update_interior();
    }
    record(Timestamp::InteriorDone, by_themselves_);
    exchange_->begin();
    if (layout_.blocks().size() > 1) {
        record(Timestamp::Exchanged, states_);
    }
    record(Timestamp::InteriorBegun, by_host_);
    for (backend::BlockState* state : by_host_) {
        state->update_interior();
    }
    record(Timestamp::InteriorDone, by_host_);
    exchange_->end();
    record(Timestamp::Exchanged, exchange_->late());
    if (by_themselves_.empty()) {
        add_phase_times(1);
    }
}

void Engine::record(backend::Timestamp moment, const std::vector<backend::BlockState*>& states) const {
    if (notes_) {
        for (backend::BlockState* state : states) {
            state->record(moment);
        }
    }
}

void Engine::add_phase_times(double steps) {
    for (const Part& part : parts_) {
        phase_times_.add(PhaseTimes::of_step(*part.state, interior_of(part).count() > 0),
                         steps / double(parts_.size()));
    }
}

backend::RowBox Engine::interior_of(const Part& part) const {
    return has_interiors_ ? engine::interior_of(domain_, backend::halo_depth(spec_), part.place) : backend::RowBox{};
}

bool Engine::overlaps() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [this](const Part& part) { return interior_of(part).count() > 0; });
}

}  // namespace lbm::engine
