// Which steps of a block renew its eddy viscosity and which keep their velocity for that, and what recordings of steps
// need to know of it.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "../lattice/streaming.h"

namespace lbm::backend {

/// The eddy viscosity holds for `every` steps: a step whose number is a multiple of that renews it, from the velocity
/// that the step before has kept.
class RenewalSchedule {
public:
    explicit RenewalSchedule(int every) : every_(every) {}

    /// Sets the number of steps that have been completed.
    void set_steps(Index steps) { position_ = int(steps % every_); }
    /// Whether the next step renews it whatever its number, as a state has been set.
    void set_due(bool is_due) { is_due_ = is_due; }
    /// Counts a step that begins.
    void begin_step() {
        set_steps(position_ + 1);
        is_due_ = false;
    }

    /// Whether the number of the next step is one that renews the eddy viscosity.
    bool is_at_renewal() const { return position_ == 0; }
    /// Whether the next step renews it.
    bool renews() const { return is_at_renewal() || is_due_; }
    /// Whether the step that has begun keeps its velocity.
    bool keeps_velocity() const { return position_ == 0; }

    /// What follows is for recordings (BlockState::updates_of_cycle). Steps that renew the eddy viscosity, and steps
    /// that keep the velocity, launch other kernels than those between them. A recording of a whole cycle of them would
    /// be as long as `every`, or twice that. So they are part of a recorded cycle only while that is short; otherwise
    /// the steps between them are recorded, which are then enough to make a recording worth it.
    int steps_of_cycle() const { return is_recorded_whole() ? every_ : 1; }
    int place_in_cycle() const { return is_recorded_whole() ? position_ : 0; }
    /// How many steps, from the next one on, launch what those of the cycle do.
    Index steps_in_cycle() const {
        if (is_due_ && !is_at_renewal()) {
            return 0;  // it renews at a place of the cycle that does not
        }
        return is_recorded_whole() ? std::numeric_limits<Index>::max() : is_at_renewal() ? 0 : every_ - 1 - position_;
    }
    /// Counts steps that were replayed; a negative number takes back those that were only recorded.
    void count(Index steps) { set_steps(((position_ + steps) % every_ + every_) % every_); }

private:
    /// Between two renewals there are every_ - 2 other steps, and a recording is made where two of its length, 16, may
    /// follow (Executor).
    bool is_recorded_whole() const { return every_ <= 40; }

    int every_;
    int position_ = 0;     // steps since the eddy viscosity was to be renewed
    bool is_due_ = false;  // whether a state has been set since the last step
};

/// What sets updates of a block apart.
struct ScheduledUpdate {
    Phase phase;
    bool is_at_renewal;
    bool keeps_velocity;

    bool operator==(const ScheduledUpdate&) const = default;
};

/// The kinds of update that follow a step of `phase`, each once, in the order in which they come.
inline std::vector<ScheduledUpdate> kinds_of_updates(Phase phase, RenewalSchedule schedule, int every) {
    std::vector<ScheduledUpdate> kinds;
    for (int k = 0; k < 2 * every; ++k) {  // a cycle of phases has two at most
        phase = next_phase(phase);
        ScheduledUpdate kind{phase, schedule.is_at_renewal(), false};
        schedule.begin_step();
        kind.keeps_velocity = schedule.keeps_velocity();
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
            kinds.push_back(kind);
        }
    }
    return kinds;
}

}  // namespace lbm::backend
