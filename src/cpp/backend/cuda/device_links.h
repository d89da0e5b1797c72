// A block's links in a GPU's memory.
#pragma once

#include "../links.h"
#include "device.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

class DeviceLinks {
public:
    void set_plan(const backend::LinkPlan& plan, const std::vector<Phase>& phases, const WorkStream& stream);
    /// The values of wall links alone.
    void set_values(const backend::LinkPlan& plan, const WorkStream& stream);

    /// What apply_boundaries takes after a step of `phase`.
    LinkArguments arguments(Phase phase) const;
    /// The same of the cells that are served when all of that is done.
    LinkArguments late_arguments(Phase phase) const;
    std::size_t bytes() const;

private:
    struct Copies {
        DeviceBuffer runs, singles, wall_offsets;
    };

    backend::ByPhase<Copies> copies_;
    DeviceBuffer wall_cells_, late_cells_, wall_links_, wall_temperatures_;
};

}  // namespace lbm::cuda
