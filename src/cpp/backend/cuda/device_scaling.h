// What changes in time by factors, of a block on a GPU: the fixed parts and the factors of the next steps in its
// memory.
#pragma once

#include <vector>

#include "../links.h"
#include "../scaled_state.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceScaling final : public backend::ScaledState {
public:
    /// Keeps references to the arguments, which must outlive it; `revision` is the block's.
    DeviceScaling(const WorkStream& stream, Index& revision) : stream_(stream), revision_(revision) {}

    std::size_t bytes() const { return values_.bytes() + factors_.bytes() + clock_.bytes(); }
    /// Whether any value of a wall link or a boundary cell changes in time.
    bool any() const { return values_.bytes() > 0; }
    /// Whether the next update has factors for them. Before any were given values are those that the plan has.
    bool has_factors() const { return any() && clock_.bytes() > 0 && series_ >= needed_; }
    void set_plan(const backend::LinkPlan& plan) {
        upload(values_, stream_, plan.scaled_values);
        needed_ = plan.factors_needed();
        is_set_ = false;
        reference_density_ = plan.reference_density;
        inertia_ = plan.wall_inertia;
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
        is_set_ = false;
    }
    void set_row(Index row) override {
        if (!any() || (is_set_ && row == row_)) {
            return;
        }
        revision_ += clock_.bytes() == 0 ? 1 : 0;
        const FactorClock clock{{row, row}, rows_};
        upload(clock_, stream_, &clock, 1);
        row_ = row;
        is_set_ = true;
    }
    /// To be called after so many updates, which have brought the clock on if they were launched with arguments().
    void was_updated(Index updates) {
        row_ += updates;
        turn_ = int((turn_ + updates) & 1);
    }
    /// Which of the two rows of the clock is that of the next update: a recording begins with the same one.
    int turn() const { return any() ? turn_ : 0; }

    /// What kernels before the next update take.
    ScalingArguments arguments() const {
        if (!has_factors()) {
            return {};
        }
        return {values_.as<backend::ScaledVector>(),
                reference_density_,
                inertia_,
                factors_.as<double>(),
                series_,
                turn_,
                clock_.as<FactorClock>()};
    }

private:
    const WorkStream& stream_;
    Index& revision_;
    DeviceBuffer values_, factors_, clock_;
    double reference_density_ = 1, inertia_ = 1;
    Index rows_ = 0;
    int series_ = 0, needed_ = 0;  // factors of a step that there are, and those that values take
    int turn_ = 0;
    Index row_ = 0;        // of the next update
    bool is_set_ = false;  // whether the clock has it
};

}  // namespace lbm::cuda
