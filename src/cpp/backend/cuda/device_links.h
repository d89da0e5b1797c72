// The copies and wall links of a boundary-and-halo plan in a GPU's memory.
#pragma once

#include "../links.h"
#include "device.h"
#include "kernel_names.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// How many cells at the ends of rows of `nx` cells have formulas that read their moments.
Index moments_at_row_ends(const backend::LinkPlan& plan, int nx);

class DeviceLinks {
public:
    void set_plan(const backend::LinkPlan& plan, const std::vector<Phase>& phases, const WorkStream& stream);
    /// Uploads only the values of the wall links and wall temperatures.
    void set_values(const backend::LinkPlan& plan, const WorkStream& stream);

    /// A launch of a kernel.
    struct Pass {
        KernelName kernel;
        LinkArguments links;
    };
    /// The launches that apply boundaries after a step of `phase`: apply_boundaries, and second_pass for the cells
    /// whose formulas read what has streamed in. None without links.
    /// `scaled` says whether values of links change in time.
    std::vector<Pass> passes(const backend::BlockSpec& spec, Phase phase, bool scaled) const;
    /// The temperatures behind walls, whose values a kernel may set.
    backend::WallTemperature* wall_temperatures() const { return wall_temperatures_.as<backend::WallTemperature>(); }
    std::size_t bytes() const;

private:
    LinkArguments arguments(Phase phase) const;
    LinkArguments second_pass_arguments(Phase phase) const;

    struct Copies {
        DeviceBuffer runs, singles, wall_offsets;
    };

    backend::ByPhase<Copies> copies_;
    DeviceBuffer wall_cells_, second_pass_cells_, wall_links_, wall_temperatures_;
};

}  // namespace lbm::cuda
