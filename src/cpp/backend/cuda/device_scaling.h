// The values of walls that change in time, of a block on a GPU: their fixed parts and the factors of the next steps in
// its memory, and the launch of their kernel.
#pragma once

#include <vector>

#include "../links.h"
#include "../scaled_state.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceScaling final : public backend::ScaledState {
public:
    /// Keeps references to the arguments, which must outlive it; `revision` is the block's.
    DeviceScaling(const backend::BlockSpec& spec, const WorkStream& stream, KernelSet& kernels, Index& revision)
        : spec_(spec), stream_(stream), kernels_(kernels), revision_(revision) {}

    std::size_t bytes() const { return links_.bytes() + cells_.bytes() + factors_.bytes() + clock_.bytes(); }
    /// Whether any value changes in time.
    bool any() const { return count() > 0; }
    void set_plan(const backend::LinkPlan& plan) {
        link_count_ = Index(plan.scaled_links.size());
        cell_count_ = Index(plan.scaled_cells.size());
        upload(links_, stream_, plan.scaled_links);
        upload(cells_, stream_, plan.scaled_cells);
    }
    void set_factors(const double* factors, Index rows, int series) override {
        const std::size_t bytes = std::size_t(rows * series) * sizeof(double);
        if (factors_.bytes() < bytes || series != series_) {  // fewer rows leave the memory as it is, and recordings
            factors_ = DeviceBuffer(stream_.ordinal(), bytes);
            ++revision_;
        }
        stream_.copy_to_device(factors_.address(), factors, bytes);
        stream_.synchronize();
        rows_ = rows;
        series_ = series;
    }
    void set_row(Index row) override {
        revision_ += clock_.bytes() == 0 ? 1 : 0;
        const FactorClock clock{row, rows_, 0};
        upload(clock_, stream_, &clock, 1);
    }
    void expect_kernels() const {
        if (any()) {
            kernels_.expect(kernel());
        }
    }
    /// Sets the values of the next update in the lists of links and boundary cells, if any change in time, and goes on
    /// to the next row.
    void scale(backend::WallLink* links, backend::BoundaryCell* cells) const {
        if (!any()) {
            return;
        }
        kernels_.get(kernel()).launch(
            stream_, flat(count()),
            ScalingArguments{links_.as<backend::ScaledLink>(), link_count_, cells_.as<backend::ScaledCell>(),
                             cell_count_, links, cells, factors_.as<double>(), series_, clock_.as<FactorClock>()});
    }

private:
    Index count() const { return link_count_ + cell_count_; }
    KernelName kernel() const { return state_kernel(spec_, "scale_values.h", "scale_values"); }

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    Index& revision_;
    DeviceBuffer links_, cells_, factors_, clock_;
    Index link_count_ = 0, cell_count_ = 0, rows_ = 0;
    int series_ = 0;
};

}  // namespace lbm::cuda
