// What changes in time by factors, of a block on the CPU: the factors of its next steps.
#pragma once

#include <algorithm>
#include <vector>

#include "../links.h"
#include "../scaled_state.h"
#include "../scaled_values.h"

namespace lbm::cpu {

class HostScaling final : public backend::ScaledState {
public:
    void set_plan(const backend::LinkPlan& plan) { needed_ = plan.factors_needed(); }
    void set_factors(const double* factors, Index rows, int series) override {
        set_force_factor(force_factor());
        factors_.assign(factors, factors + rows * series);
        rows_ = rows;
        series_ = series;
    }
    void set_row(Index row) override {
        row_ = row;
        force_is_given_ = force_series_ < 0 || force_series_ >= series_ || rows_ == 0;
    }
    void set_force_factor(double factor) override {
        given_force_factor_ = factor;
        force_is_given_ = true;
    }
    /// Makes the force one that changes by this factor of each step; -1: it does not. For now the factor is 1.
    void set_force_series(int series) {
        force_series_ = series;
        set_force_factor(1);
    }
    /// Goes on to the row of the next update.
    void was_updated() { ++row_; }

    /// Whether the next update has factors for the values of a plan that change in time, if there are any. Before they
    /// were given values are those that the plan has.
    bool serves(const backend::LinkPlan& plan) const {
        return !plan.scaled_values.empty() && rows_ > 0 && series_ >= needed_;
    }
    /// The values of a plan in the next update.
    template <class S>
    backend::ScaledValues<S> values(const backend::LinkPlan& plan) const {
        return {plan.scaled_values.data(), factors(), plan.reference_density, plan.wall_inertia};
    }
    /// The factors of the next update, of which there must be some.
    const double* factors() const { return factors_.data() + std::min(row_, rows_ - 1) * series_; }
    /// Whether the force is scaled, and its factor in the next update.
    bool scales_force() const { return force_series_ >= 0; }
    double force_factor() const {
        return force_is_given_ ? given_force_factor_
                               : factors_[std::size_t(std::min(row_, rows_ - 1) * series_ + force_series_)];
    }
    std::size_t bytes() const { return factors_.capacity() * sizeof(double); }

private:
    std::vector<double> factors_;
    Index rows_ = 0, row_ = 0;
    int series_ = 0, needed_ = 0;  // factors of a step that there are, and those that values take
    int force_series_ = -1;
    bool force_is_given_ = true;  // until a row is set
    double given_force_factor_ = 1;
};

}  // namespace lbm::cpu
