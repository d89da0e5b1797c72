// Uploads the copies and wall links of a boundary-and-halo plan.
#include "device_links.h"

#include <algorithm>

#include "split_runs.h"
#include "upload.h"

namespace lbm::cuda {

Index moments_at_row_ends(const backend::LinkPlan& plan, int nx) {
    Index found = 0;
    for (const auto* cells : {&plan.wall_cells, &plan.second_pass_cells}) {
        found += std::count_if(cells->begin(), cells->end(), [&](const backend::WallCell& cell) {
            return cell.needs_moments && (cell.x == 0 || cell.x == nx - 1);
        });
    }
    return found;
}

void DeviceLinks::set_plan(const backend::LinkPlan& plan, const std::vector<Phase>& phases, const WorkStream& stream) {
    if (copies_.size() != phases.size()) {
        copies_ = backend::ByPhase<Copies>(phases);
    }
    for (const Phase phase : phases) {
        std::vector<backend::CopyRun> runs;
        std::vector<SingleCopy> singles;
        split_runs(
            plan.copies[phase], [&](const backend::CopyRun& run) { runs.push_back(run); },
            [&](const SingleCopy& copy) { singles.push_back(copy); });
        upload(copies_[phase].runs, stream, runs);
        upload(copies_[phase].singles, stream, singles);
        upload(copies_[phase].wall_offsets, stream, plan.wall_offsets[phase]);
    }
    upload(wall_cells_, stream, plan.wall_cells);
    upload(second_pass_cells_, stream, plan.second_pass_cells);
    set_values(plan, stream);
}

void DeviceLinks::set_values(const backend::LinkPlan& plan, const WorkStream& stream) {
    upload(wall_links_, stream, plan.wall_links);
    upload(wall_temperatures_, stream, plan.wall_temperatures);
}

std::vector<DeviceLinks::Pass> DeviceLinks::passes(const backend::BlockSpec& spec, Phase phase, bool scaled) const {
    std::vector<Pass> found;
    const std::string more = scaled ? "true" : "false";
    if (const LinkArguments links = arguments(phase); links.threads() > 0) {
        found.push_back({state_kernel(spec, "apply_boundaries.h", "apply_boundaries", more), links});
    }
    if (const LinkArguments links = second_pass_arguments(phase); links.threads() > 0) {
        found.push_back({state_kernel(spec, "second_pass.h", "second_pass", more), links});
    }
    return found;
}

LinkArguments DeviceLinks::arguments(Phase phase) const {
    const auto& [runs, singles, wall_offsets] = copies_[phase];
    return {runs.as<backend::CopyRun>(),
            Index(runs.bytes() / sizeof(backend::CopyRun)),
            singles.as<SingleCopy>(),
            Index(singles.bytes() / sizeof(SingleCopy)),
            wall_cells_.as<backend::WallCell>(),
            Index(wall_cells_.bytes() / sizeof(backend::WallCell)),
            wall_links_.as<backend::WallLink>(),
            wall_offsets.as<backend::LinkOffsets>(),
            wall_temperatures_.as<backend::WallTemperature>(),
            Index(wall_temperatures_.bytes() / sizeof(backend::WallTemperature)),
            nullptr};
}

LinkArguments DeviceLinks::second_pass_arguments(Phase phase) const {
    LinkArguments arguments{};
    arguments.cells = second_pass_cells_.as<backend::WallCell>();
    arguments.cell_count = Index(second_pass_cells_.bytes() / sizeof(backend::WallCell));
    arguments.links = wall_links_.as<backend::WallLink>();
    arguments.places = copies_[phase].wall_offsets.as<backend::LinkOffsets>();
    return arguments;
}

std::size_t DeviceLinks::bytes() const {
    std::size_t sum =
        wall_cells_.bytes() + second_pass_cells_.bytes() + wall_links_.bytes() + wall_temperatures_.bytes();
    for (const Copies& copies : copies_) {
        sum += copies.runs.bytes() + copies.singles.bytes() + copies.wall_offsets.bytes();
    }
    return sum;
}

}  // namespace lbm::cuda
