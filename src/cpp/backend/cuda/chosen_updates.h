// The update kernels of a block, and their launch configurations, for each kind of update that its steps make.
#pragma once

#include <string>

#include "../renewal_schedule.h"
#include "kernel_names.h"
#include "tuning.h"

namespace lbm::cuda {

class ChosenUpdates {
public:
    explicit ChosenUpdates(const backend::BlockSpec& spec) : spec_(spec) {}

    /// Chooses the configurations of updates with this force on a GPU of this name, and of what they keep of the ends
    /// of rows (UpdateKind).
    void choose(Forcing forcing, bool end_sums, int row_ends, const std::string& gpu) {
        forcing_ = forcing;
        end_sums_ = end_sums;
        row_ends_ = row_ends;
        for (const Phase phase : backend::phases_of(spec_)) {
            for (const bool renews : {false, true}) {
                const backend::ScheduledUpdate update{phase, renews, renews && spec_.refresh_every == 1};
                configurations_[renews][phase] = chosen_configuration(spec_, kind(update), gpu);
            }
        }
    }

    /// Whether an update keeps the velocity does not change its launch configuration.
    const LaunchConfiguration& configuration(const backend::ScheduledUpdate& update) const {
        return configurations_[update.is_at_renewal][update.phase];
    }
    KernelName name(const backend::ScheduledUpdate& update) const {
        return update_kernel(spec_, configuration(update), kind(update));
    }
    KernelName part_name(const backend::ScheduledUpdate& update) const {
        return part_kernel(spec_, configuration(update));
    }
    /// The kind of update of `phase` of which a block makes most.
    backend::ScheduledUpdate most(Phase phase) const {
        return {phase, spec_.refresh_every == 1, spec_.refresh_every == 1};
    }

private:
    using Configurations = backend::ByPhase<LaunchConfiguration>;

    UpdateKind kind(const backend::ScheduledUpdate& update) const {
        return {update.phase, forcing_, end_sums_, update.keeps_velocity, update.is_at_renewal, row_ends_};
    }

    const backend::BlockSpec& spec_;
    Forcing forcing_ = Forcing::None;
    bool end_sums_ = false;
    int row_ends_ = 0;
    /// Of updates that do not renew what is taken of velocity gradients, and of those that do.
    Configurations configurations_[2]{Configurations(backend::phases_of(spec_)),
                                      Configurations(backend::phases_of(spec_))};
};

}  // namespace lbm::cuda
