// Uploads the copies and links of a boundary-and-halo plan, and launches their kernels.
#include "device_links.h"

#include <algorithm>

#include "../wall_links.h"
#include "split_runs.h"
#include "upload.h"

namespace lbm::cuda {

Index moments_at_row_ends(const backend::LinkPlan& plan, int nx) {
    return std::count_if(plan.wall_cells.begin(), plan.wall_cells.end(), [&](const backend::WallCell& cell) {
        return cell.needs_moments && (cell.x == 0 || cell.x == nx - 1);
    });
}

void DeviceLinks::set_plan(const backend::LinkPlan& plan) {
    const std::vector<Phase> phases = backend::phases_of(spec_);
    if (copies_.size() != phases.size()) {
        copies_ = backend::ByPhase<Copies>(phases);
    }
    for (const Phase phase : phases) {
        std::vector<backend::CopyRun> runs;
        std::vector<SingleCopy> singles;
        split_runs(
            plan.copies[phase], [&](const backend::CopyRun& run) { runs.push_back(run); },
            [&](const SingleCopy& copy) { singles.push_back(copy); });
        upload(copies_[phase].runs, stream_, runs);
        upload(copies_[phase].singles, stream_, singles);
        upload(copies_[phase].wall_offsets, stream_, plan.wall_offsets[phase]);
        upload(copies_[phase].cut_places, stream_, plan.cut_places[phase]);
        upload(copies_[phase].sheet_places, stream_, plan.sheet_places[phase]);
    }
    upload(wall_cells_, stream_, plan.wall_cells);
    cut_count_ = Index(plan.cut_links.size());
    sheet_count_ = Index(plan.sheet_links.size());
    set_values(plan);
}

void DeviceLinks::set_values(const backend::LinkPlan& plan) {
    upload(wall_links_, stream_, plan.wall_links);
    upload(wall_temperatures_, stream_, plan.wall_temperatures);
    const bool some_change = !plan.scaled_values.empty();
    upload(cut_links_, stream_, plan.cut_links.data(), some_change ? plan.cut_links.size() : 0);
    upload(sheet_links_, stream_, plan.sheet_links.data(), some_change ? plan.sheet_links.size() : 0);
    backend::with_real(spec_.precision, [&](auto real) {
        using Real = decltype(real);
        std::vector<boundary::LinearWall<Real>> walls;
        for (const backend::CutLink& link : plan.cut_links) {
            walls.push_back(backend::rounded<Real>(link.wall));
        }
        upload(cut_walls_, stream_, walls);
        walls.clear();
        for (const backend::SheetLink& link : plan.sheet_links) {
            walls.push_back(backend::rounded<Real>(link.side[0].wall));
            walls.push_back(backend::rounded<Real>(link.side[1].wall));
        }
        upload(sheet_walls_, stream_, walls);
    });
}

KernelName DeviceLinks::apply_boundaries(bool scaled) const {
    return state_kernel(spec_, "apply_boundaries.h", "apply_boundaries", scaled ? "true" : "false");
}

KernelName DeviceLinks::serve_cut_links(bool scaled) const {
    return state_kernel(spec_, "cut_links.h", "cut_links", scaled ? "true" : "false");
}

KernelName DeviceLinks::serve_sheet_links(bool scaled) const {
    return state_kernel(spec_, "sheet_links.h", "sheet_links", scaled ? "true" : "false");
}

void DeviceLinks::expect_kernels(Phase phase, bool scaled) const {
    if (arguments(phase).threads() > 0) {
        kernels_.expect(apply_boundaries(scaled));
    }
    if (cut_count_ > 0) {
        kernels_.expect(serve_cut_links(scaled));
    }
    if (sheet_count_ > 0) {
        kernels_.expect(serve_sheet_links(scaled));
    }
}

template <class Arguments>
void DeviceLinks::launch(const KernelName& kernel, Index threads, bool programmatic_launch,
                         const Arguments& arguments) const {
    LaunchDimensions dimensions = flat(threads);
    dimensions.programmatic_launch = programmatic_launch;
    kernels_.get(kernel).launch(stream_, dimensions, arguments);
}

void DeviceLinks::apply(const StateArguments& state, const ScalingArguments& scaling, bool scaled, void* end_sums,
                        bool programmatic_launch) const {
    if (LinkArguments links = arguments(state.phase); links.threads() > 0) {
        links.end_sums = end_sums;
        launch(apply_boundaries(scaled), links.threads(), programmatic_launch,
               BoundaryArguments{state, links, scaling});
    }
    if (cut_count_ > 0) {
        launch(serve_cut_links(scaled), cut_count_, programmatic_launch,
               CutLinkArguments{state.data, cut_walls_.as<void>(), cut_links_.as<backend::CutLink>(),
                                copies_[state.phase].cut_places.as<backend::CutPlaces>(), cut_count_, scaling});
    }
}

void DeviceLinks::apply_sheets(const StateArguments& state, const ScalingArguments& scaling, bool scaled,
                               bool programmatic_launch) const {
    if (sheet_count_ > 0) {
        launch(serve_sheet_links(scaled), sheet_count_, programmatic_launch,
               SheetLinkArguments{state.data, sheet_walls_.as<void>(), sheet_links_.as<backend::SheetLink>(),
                                  copies_[state.phase].sheet_places.as<backend::SheetPlaces>(), sheet_count_, scaling});
    }
}

LinkArguments DeviceLinks::arguments(Phase phase) const {
    const Copies& copies = copies_[phase];
    const DeviceBuffer &runs = copies.runs, &singles = copies.singles;
    return {runs.as<backend::CopyRun>(),
            Index(runs.bytes() / sizeof(backend::CopyRun)),
            singles.as<SingleCopy>(),
            Index(singles.bytes() / sizeof(SingleCopy)),
            wall_cells_.as<backend::WallCell>(),
            Index(wall_cells_.bytes() / sizeof(backend::WallCell)),
            wall_links_.as<backend::WallLink>(),
            copies.wall_offsets.as<backend::LinkOffsets>(),
            wall_temperatures_.as<backend::WallTemperature>(),
            Index(wall_temperatures_.bytes() / sizeof(backend::WallTemperature)),
            nullptr};
}

std::size_t DeviceLinks::bytes() const {
    std::size_t sum = wall_cells_.bytes() + wall_links_.bytes() + wall_temperatures_.bytes() + cut_walls_.bytes() +
                      cut_links_.bytes() + sheet_walls_.bytes() + sheet_links_.bytes();
    for (const Copies& copies : copies_) {
        sum += copies.runs.bytes() + copies.singles.bytes() + copies.wall_offsets.bytes() + copies.cut_places.bytes() +
               copies.sheet_places.bytes();
    }
    return sum;
}

}  // namespace lbm::cuda
