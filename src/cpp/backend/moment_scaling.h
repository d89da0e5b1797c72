// What changes in time on a block whose state is moments, as the host has it: the factors of the next steps, of which
// an update takes those of several, and the force but for fields.
#pragma once

#include <algorithm>
#include <vector>

#include "links.h"
#include "moment_force.h"
#include "scaled_state.h"

namespace lbm::backend {

class MomentScaling final : public ScaledState {
public:
    /// See BlockState::set_force().
    void set_force(int D, const double* uniform, const double* field, int series) {
        is_any_ = uniform != nullptr || field != nullptr;
        for (int d = 0; d < 3; ++d) {
            uniform_[d] = uniform != nullptr && d < D ? uniform[d] : 0;
        }
        force_series_ = is_any_ ? series : -1;
        given_[0] = given_[1] = 1;
        is_given_ = true;
    }
    void set_plan(const LinkPlan& plan) { needed_ = plan.scaled_values.empty() ? -1 : plan.factors_needed(); }
    void set_factors(const double* factors, Index rows, int series) override {
        const double before = factor(0), present = factor(1);
        set_force_factor(before);
        set_force_factor(present);
        table_.assign(factors, factors + rows * series);
        rows_ = rows;
        series_ = series;
        ++version_;
    }
    void set_row(Index row) override {
        row_ = row;
        is_given_ = force_series_ < 0 || force_series_ >= series_ || rows_ == 0;
    }
    /// To be called with the factor of the step that has made the state, and then with that of the next one.
    void set_force_factor(double factor) override {
        given_[0] = given_[1];
        given_[1] = factor;
        is_given_ = true;
    }
    /// Goes on by so many steps.
    void was_updated(int steps) { row_ += steps; }

    /// Whether there is a force, and one that changes in time.
    bool has_force() const { return is_any_; }
    bool scales_force() const { return force_series_ >= 0; }
    /// Whether there are values of walls that do, and whether there are factors for their steps too.
    bool has_values() const { return needed_ >= 0; }
    bool scales_walls() const { return has_values() && rows_ > 0 && series_ >= needed_; }
    /// Whether anything does, so that no two updates have the same arguments.
    bool any() const { return scales_force() || has_values(); }

    /// The factor of the force in the step that has made the state, for 0, and in the steps to come, from 1 on.
    double factor(int step) const {
        return !scales_force() ? 1
               : is_given_     ? given_[std::min(step, 1)]
                               : table_[std::size_t(row(step) * series_ + force_series_)];
    }
    /// The factors of all steps, `series()` for each, their number, and the place of those of the next step among them;
    /// `version` is another one after they have changed.
    const std::vector<double>& table() const { return table_; }
    int series() const { return series_; }
    Index next_factors() const { return row(1) * series_; }
    Index version() const { return version_; }

    /// A component of a uniform force in a step with this factor.
    double uniform(int d, double factor) const { return scales_force() ? uniform_[d] * factor : uniform_[d]; }
    /// The force without the fields.
    template <class Number>
    MomentForce<Number> force(const MomentForceRows& rows) const {
        MomentForce<Number> force{};
        force.is_any = is_any_;
        force.rows = rows;
        for (int step = 0; step <= most_moment_steps; ++step) {
            force.factor[step] = factor(step);
            for (int d = 0; d < 3; ++d) {
                force.uniform[step][d] = Number(uniform(d, force.factor[step]));
            }
        }
        return force;
    }

private:
    Index row(int step) const { return std::clamp<Index>(row_ - 1 + step, 0, rows_ - 1); }

    bool is_any_ = false, is_given_ = true;
    double uniform_[3] = {};
    int force_series_ = -1;
    double given_[2] = {1, 1};  // until a row is set: of the step before, and of the next one
    std::vector<double> table_;
    Index rows_ = 0, row_ = 0;      // row_: of the next step
    int series_ = 0, needed_ = -1;  // factors of a step that there are, and that walls take
    Index version_ = 0;
};

}  // namespace lbm::backend
