// The halo behind walls of a block on a GPU, for the multispeed thermal model.
#pragma once

#include "../links.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceWalls {
public:
    /// Keeps references to the arguments, which must outlive it.
    DeviceWalls(const backend::BlockSpec& spec, const WorkStream& stream, KernelSet& kernels)
        : spec_(spec), stream_(stream), kernels_(kernels) {}

    std::size_t bytes() const { return columns_.bytes() + corners_.bytes(); }
    /// Uploads the wall columns and corners of a plan, also if only the temperatures of walls have changed.
    void set(const backend::LinkPlan& plan) {
        count_ = Index(plan.wall_columns.size());
        corner_count_ = Index(plan.wall_corners.size());
        upload(columns_, stream_, plan.wall_columns);
        upload(corners_, stream_, plan.wall_corners);
    }
    /// The columns, whose temperatures a kernel may set.
    backend::WallColumn* columns() const { return columns_.as<backend::WallColumn>(); }
    void expect_kernels() const {
        if (count_ > 0) {
            kernels_.expect(wall_columns_kernel(spec_));
        }
    }
    /// Fills the halo behind walls; to be called after all copies into the halo.
    void fill(const StateArguments& state, bool programmatic_launch) const {
        if (count_ == 0) {
            return;
        }
        backend::with_real(spec_.precision, [&](auto real) { launch<decltype(real)>(state, programmatic_launch); });
    }

    /// The heat of `count` columns from the number `first` on, once the halo has been filled.
    void heat(const StateArguments& state, Index first, Index count, backend::ColumnHeat* out) const {
        if (count == 0) {
            return;
        }
        const auto parameters = backend::parameters_of<MultispeedParameters<double>>(spec_);
        const DeviceBuffer all(stream_.ordinal(), std::size_t(count) * sizeof(backend::ColumnHeat));
        kernels_.get(state_kernel(spec_, "heat.h", "column_heat"))
            .launch(stream_, flat(count), state, columns() + first, count, parameters.tau_q_minus_1 + 0.5,
                    all.as<backend::ColumnHeat>());
        stream_.copy_to_host(out, all.address(), all.bytes());
        stream_.synchronize();
    }

private:
    template <class Real>
    void launch(const StateArguments& state, bool programmatic_launch) const {
        const Index blocks = column_blocks(count_) + column_blocks(corner_count_);
        const LaunchDimensions dimensions{unsigned(blocks), unsigned(columns_a_block), unsigned(wall_depth),
                                          programmatic_launch};
        kernels_.get(wall_columns_kernel(spec_))
            .launch(stream_, dimensions,
                    WallColumnArguments<Real>{state, columns_.as<backend::WallColumn>(), count_,
                                              corners_.as<backend::WallCorner>(), corner_count_,
                                              backend::parameters_of<MultispeedParameters<Real>>(spec_)});
    }

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    DeviceBuffer columns_, corners_;
    Index count_ = 0, corner_count_ = 0;
};

}  // namespace lbm::cuda
