// What changes in time by factors, of a block on a GPU: the fixed parts and the factors of the next steps in its
// memory, and the launch of the kernel for what no other kernel computes as it reads it.
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

    std::size_t bytes() const {
        return values_.bytes() + numbers_.bytes() + terms_.bytes() + factors_.bytes() + clock_.bytes();
    }
    /// Whether anything changes in time.
    bool any() const { return has_values() || sets_numbers(); }
    /// Whether values of wall links or boundary cells do, which the kernels that read them compute.
    bool has_values() const { return values_.bytes() > 0; }
    /// Whether numbers in lists are set before each update.
    bool sets_numbers() const { return numbers_.bytes() > 0; }
    /// Whether the kernels of the next update compute values.
    bool scales_values() const { return has_values() && has_factors(); }
    /// Whether the next update has factors for them. Before any were given values are those that the plan has.
    bool has_factors() const { return any() && clock_.bytes() > 0 && series_ >= needed_; }
    void set_plan(const backend::LinkPlan& plan) {
        upload(values_, stream_, plan.scaled_values);
        upload(numbers_, stream_, plan.scaled_numbers);
        upload(terms_, stream_, plan.scaled_terms);
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

    void expect_kernels() const {
        if (sets_numbers()) {
            kernels_.expect(kernel());
        }
    }
    /// Sets the numbers of the next update in these lists, if any change in time.
    void set_numbers(const ScaledLists& lists) const {
        if (sets_numbers() && has_factors()) {
            const auto count = Index(numbers_.bytes() / sizeof(backend::ScaledNumber));
            kernels_.get(kernel()).launch(stream_, flat(count),
                                          ScaledNumberArguments{all_arguments(), numbers_.as<backend::ScaledNumber>(),
                                                                count, terms_.as<backend::ScaledTerm>(), lists});
        }
    }
    /// What kernels before the next update take that compute values themselves.
    ScalingArguments arguments() const { return scales_values() ? all_arguments() : ScalingArguments{}; }

private:
    KernelName kernel() const { return state_kernel(spec_, "scale_numbers.h", "scale_numbers"); }
    ScalingArguments all_arguments() const {
        return {values_.as<backend::ScaledVector>(),
                reference_density_,
                inertia_,
                factors_.as<double>(),
                series_,
                turn_,
                clock_.as<FactorClock>()};
    }

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    Index& revision_;
    DeviceBuffer values_, numbers_, terms_, factors_, clock_;
    double reference_density_ = 1, inertia_ = 1;
    Index rows_ = 0;
    int series_ = 0, needed_ = 0;  // factors of a step that there are, and those that values take
    int turn_ = 0;
    Index row_ = 0;        // of the next update
    bool is_set_ = false;  // whether the clock has it
};

}  // namespace lbm::cuda
