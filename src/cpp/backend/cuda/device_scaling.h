// What changes in time by factors, of a block on a GPU: the fixed parts and the factors of the next steps in its
// memory, and the launch of the kernel for what no other kernel computes as it reads it.
#pragma once

#include <algorithm>
#include <stdexcept>
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
    bool any() const { return has_values() || sets_numbers() || scales_force() || end_of_poses_ > 0; }
    /// Whether values of wall links or boundary cells do, which the kernels that read them compute.
    bool has_values() const { return values_.bytes() > 0; }
    /// Whether numbers in lists are set before each update.
    bool sets_numbers() const { return numbers_.bytes() > 0; }
    /// Whether the force does, which updates compute.
    bool scales_force() const { return force_series_ >= 0; }
    /// Whether the kernels of the next update compute values.
    bool scales_values() const { return has_values() && has_factors(); }
    /// Whether the next update has factors for them. Before any were given values are those that the plan has.
    bool has_factors() const { return any() && clock_.bytes() > 0 && series_ >= std::max(needed_, end_of_poses_); }
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
        force_factors_.clear();
        for (Index row = 0; row < rows && scales_force() && force_series_ < series; ++row) {
            force_factors_.push_back(factors[row * series + force_series_]);
        }
    }
    void set_row(Index row) override {
        if (!any() || (is_set_ && row == row_)) {
            return;
        }
        row_ = row;
        is_set_ = true;
        const auto last = Index(force_factors_.size()) - 1;
        set_clock(last < 0 ? 1 : force_factors_[std::size_t(std::min(row, last))]);
    }
    void set_force_factor(double factor) override {
        if (scales_force()) {
            is_set_ = false;
            set_clock(factor);
        }
    }
    /// Makes the force one that changes by this factor of each step; -1: it does not. For now the factor is 1.
    void set_force_series(int series) {
        force_series_ = series;
        force_factors_.clear();
        set_force_factor(1);
    }
    /// Makes the factors before this one hold the poses of bodies that move; 0: there are none.
    void set_pose_series(int end) {
        end_of_poses_ = end;
        is_set_ = false;
    }
    /// The factor of the force in the next update, in the memory of the device; null if the force is not scaled.
    const double* force_factor() const { return scales_force() ? clock_.as<FactorClock>()->force + turn_ : nullptr; }
    /// What an update takes, beside the fixed part, of a force that is scaled, with the turn() that it had when it
    /// began.
    void put(ScaledForce& force, int turn) const {
        force.clock = clock_.as<FactorClock>();
        force.turn = turn;
        force.series = series_;
        force.factors = force_factors_.empty() ? nullptr : factors_.as<double>() + force_series_;
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
    /// What kernels take that read the poses of bodies.
    ScalingArguments arguments_of_poses() const {
        if (!has_factors()) {
            throw std::logic_error("poses: none are there of a body that moves");
        }
        return all_arguments();
    }

private:
    void set_clock(double force) {
        revision_ += clock_.bytes() == 0 ? 1 : 0;
        const FactorClock clock{{row_, row_}, rows_, {force, force}};
        upload(clock_, stream_, &clock, 1);
    }
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
    int end_of_poses_ = 0;
    int force_series_ = -1;
    std::vector<double> force_factors_;  // of all rows
    int turn_ = 0;
    Index row_ = 0;        // of the next update
    bool is_set_ = false;  // whether the clock has it
};

}  // namespace lbm::cuda
