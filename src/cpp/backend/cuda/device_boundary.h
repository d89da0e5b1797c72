// The boundary cells of a block on a GPU: their list in its memory, and the launches of their kernels.
#pragma once

#include <algorithm>

#include "../links.h"
#include "../type_name.h"
#include "device_row_ends.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceBoundary {
public:
    /// Keeps references to the arguments, which must outlive it.
    DeviceBoundary(const backend::BlockSpec& spec, const WorkStream& stream, KernelSet& kernels)
        : spec_(spec), stream_(stream), kernels_(kernels) {}

    std::size_t bytes() const { return cells_.bytes() + sponge_.bytes() + layers_.bytes(); }
    /// `row_ends` says what there are columns of at the ends of rows.
    void set_plan(const backend::LinkPlan& plan, int row_ends) {
        row_ends_ = row_ends;
        count_ = Index(plan.boundary_cells.size());
        numbers_ = plan.boundary_numbers;
        sponge_count_ = Index(plan.sponge_cells.size());
        const auto& cells = plan.boundary_cells;
        const auto is_changed = [&](const backend::BoundaryCell& cell) {
            return cell.replaces && !backend::is_replaced_in_update(cell, row_ends);
        };
        const auto is_elsewhere = [&](const backend::BoundaryCell& cell) {
            return !backend::is_in_columns(cell, row_ends);
        };
        end_changed_ = cells.rend() - std::find_if(cells.rbegin(), cells.rend(), is_changed);
        first_in_columns_ = cells.rend() - std::find_if(cells.rbegin(), cells.rend(), is_elsewhere);
        upload(sponge_, stream_, plan.sponge_cells);
        upload(layers_, stream_, plan.sponge_layers);
        set_values(plan);
    }
    /// Uploads the boundary cells, which hold the values of faces.
    void set_values(const backend::LinkPlan& plan) { upload(cells_, stream_, plan.boundary_cells); }
    void expect_kernels() const {
        if (count_ > 0) {
            kernels_.expect(complete(false));
        }
        if (count_ > first_in_columns_) {
            kernels_.expect(complete(true));
        }
        if (end_changed_ > 0) {
            kernels_.expect(change<backend::BoundaryCell>());
        }
        if (sponge_count_ > 0) {
            kernels_.expect(change<backend::SpongeCell>());
        }
    }
    /// Computes incoming populations before the update, after all links; `next` is the lattice to which the update
    /// writes.
    void complete(const StateArguments& state, void* next, const DeviceRowEnds& row_ends,
                  const ScalingArguments& scaling, bool programmatic_launch) const {
        const auto complete_all = [&](bool in_columns, Index first, Index count) {
            if (count > 0) {
                LaunchDimensions dimensions = flat(count);
                dimensions.programmatic_launch = programmatic_launch;
                kernels_.get(complete(in_columns))
                    .launch(stream_, dimensions,
                            BoundaryCellArguments{state, cells_.as<backend::BoundaryCell>() + first, count, next,
                                                  row_ends.numbers(), row_ends_, scaling});
            }
        };
        const Index first = row_ends.is_current() ? first_in_columns_ : count_;
        complete_all(false, 0, first);
        complete_all(true, first, count_ - first);
    }
    /// Changes populations that have come in, after all else that reads those before the update.
    void finish(const StateArguments& state, const ScalingArguments& scaling, bool programmatic_launch) const {
        const auto change_all = [&]<class Cell>(const Cell* cells, Index count) {
            LaunchDimensions dimensions = flat(count);
            dimensions.programmatic_launch = programmatic_launch;
            kernels_.get(change<Cell>())
                .launch(stream_, dimensions,
                        CellChangeArguments<Cell>{state, cells, count, layers_.as<backend::SpongeLayer>(), row_ends_,
                                                  scaling});
        };
        if (end_changed_ > 0) {
            change_all(cells_.as<backend::BoundaryCell>(), end_changed_);
        }
        if (sponge_count_ > 0) {
            change_all(sponge_.as<backend::SpongeCell>(), sponge_count_);
        }
    }
    void start(const StateArguments& state) const {
        if (count_ > 0) {
            kernels_.get(kernel("start_boundary_cells"))
                .launch(stream_, flat(count_), state, cells_.as<backend::BoundaryCell>(), count_);
        }
    }
    void get(const StateArguments& state, double* out) const {
        if (numbers_ > 0) {
            const DeviceBuffer all(stream_.ordinal(), std::size_t(numbers_) * sizeof(double));
            kernels_.get(kernel("get_boundary_numbers"))
                .launch(stream_, flat(count_), state, cells_.as<backend::BoundaryCell>(), count_, all.as<double>());
            stream_.copy_to_host(out, all.address(), all.bytes());
            stream_.synchronize();
        }
    }
    void put(const StateArguments& state, const double* values) const {
        if (numbers_ > 0) {
            DeviceBuffer all;
            upload(all, stream_, values, std::size_t(numbers_));
            kernels_.get(kernel("set_boundary_numbers"))
                .launch(stream_, flat(count_), state, cells_.as<backend::BoundaryCell>(), count_, all.as<double>());
            stream_.synchronize();
        }
    }

private:
    KernelName kernel(const char* function, const std::string& more = "") const {
        return state_kernel(spec_, "boundary_cells.h", function, more);
    }
    KernelName complete(bool in_columns) const {
        return kernel("complete_boundary_cells", in_columns       ? "lbm::cuda::CellsToComplete::InColumns"
                                                 : row_ends_ != 0 ? "lbm::cuda::CellsToComplete::AnyAtRowEnds"
                                                                  : "lbm::cuda::CellsToComplete::Any");
    }
    template <class Cell>
    KernelName change() const {
        return kernel("change_cells", backend::spelled<Cell>());
    }

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    DeviceBuffer cells_, sponge_, layers_;
    Index count_ = 0, numbers_ = 0, sponge_count_ = 0;
    Index end_changed_ = 0;       // behind the last cell whose populations are replaced, but not in the update
    Index first_in_columns_ = 0;  // of the cells at the end that find all they read in columns
    int row_ends_ = 0;
};

}  // namespace lbm::cuda
