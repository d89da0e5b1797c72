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
        factors_.assign(factors, factors + rows * series);
        rows_ = rows;
        series_ = series;
    }
    void set_row(Index row) override { row_ = row; }
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
        const Index row = std::min(row_, rows_ - 1);
        return {plan.scaled_values.data(), factors_.data() + row * series_, plan.reference_density, plan.wall_inertia};
    }
    std::size_t bytes() const { return factors_.capacity() * sizeof(double); }

private:
    std::vector<double> factors_;
    Index rows_ = 0, row_ = 0;
    int series_ = 0, needed_ = 0;  // factors of a step that there are, and those that values take
};

}  // namespace lbm::cpu
