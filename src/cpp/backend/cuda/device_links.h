// The copies and links of a boundary-and-halo plan in a GPU's memory, and the launches of their kernels.
#pragma once

#include "../links.h"
#include "device.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// How many cells at the ends of rows of `nx` cells have formulas that read their moments.
Index moments_at_row_ends(const backend::LinkPlan& plan, int nx);

class DeviceLinks {
public:
    /// Keeps references to the arguments, which must outlive it.
    DeviceLinks(const backend::BlockSpec& spec, const WorkStream& stream, KernelSet& kernels)
        : spec_(spec), stream_(stream), kernels_(kernels) {}

    void set_plan(const backend::LinkPlan& plan);
    /// Uploads only the values of links and wall temperatures.
    void set_values(const backend::LinkPlan& plan);
    /// `scaled` says whether values of links change in time.
    void expect_kernels(Phase phase, bool scaled) const;
    /// Makes copies and serves links after the last step, then those cut links that read what has been copied.
    /// `end_sums` as in LinkArguments.
    void apply(const StateArguments& state, const ScalingArguments& scaling, bool scaled, void* end_sums,
               bool programmatic_launch) const;
    /// Serves walls between fluid cells, when nothing reads post-collision populations any more.
    void apply_sheets(const StateArguments& state, const ScalingArguments& scaling, bool scaled,
                      bool programmatic_launch) const;
    /// The temperatures behind walls, whose values a kernel may set.
    backend::WallTemperature* wall_temperatures() const { return wall_temperatures_.as<backend::WallTemperature>(); }
    std::size_t bytes() const;

private:
    LinkArguments arguments(Phase phase) const;
    KernelName apply_boundaries(bool scaled) const;
    KernelName serve_cut_links(bool scaled) const;
    KernelName serve_sheet_links(bool scaled) const;
    template <class Arguments>
    void launch(const KernelName& kernel, Index threads, bool programmatic_launch, const Arguments& arguments) const;

    struct Copies {
        DeviceBuffer runs, singles, wall_offsets, cut_places, sheet_places;
    };

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    backend::ByPhase<Copies> copies_;
    DeviceBuffer wall_cells_, wall_links_, wall_temperatures_;
    DeviceBuffer cut_walls_, sheet_walls_;  // in the arithmetic type
    DeviceBuffer cut_links_, sheet_links_;  // where values change in time
    Index cut_count_ = 0, sheet_count_ = 0;
};

}  // namespace lbm::cuda
