// The force on a block whose state is moments, as the host has it: what is uniform of it, and the factors of the next
// steps of one that changes in time.
#pragma once

#include <algorithm>
#include <vector>

#include "moment_force.h"
#include "scaled_state.h"

namespace lbm::backend {

class MomentForceState final : public ScaledState {
public:
    /// See BlockState::set_force().
    void set(int D, const double* uniform, const double* field, int series) {
        is_any_ = uniform != nullptr || field != nullptr;
        for (int d = 0; d < 3; ++d) {
            uniform_[d] = uniform != nullptr && d < D ? uniform[d] : 0;
        }
        series_ = is_any_ ? series : -1;
        factors_.clear();
        given_[0] = given_[1] = 1;
        is_given_ = true;
    }
    void set_factors(const double* factors, Index rows, int series) override {
        const double before = factor(0), present = factor(1);
        set_force_factor(before);
        set_force_factor(present);
        factors_.clear();
        for (Index row = 0; row < rows && is_scaled() && series_ < series; ++row) {
            factors_.push_back(factors[row * series + series_]);
        }
    }
    void set_row(Index row) override {
        row_ = row;
        is_given_ = factors_.empty();
    }
    /// To be called with the factor of the step that has made the state, and then with that of the next one.
    void set_force_factor(double factor) override {
        given_[0] = given_[1];
        given_[1] = factor;
        is_given_ = true;
    }
    /// Goes on by so many steps.
    void was_updated(int steps) { row_ += steps; }

    bool is_any() const { return is_any_; }
    bool is_scaled() const { return series_ >= 0; }
    /// The factor of the step that has made the state, for 0, and of the steps to come, from 1 on.
    double factor(int step) const {
        if (!is_scaled()) {
            return 1;
        }
        const auto last = Index(factors_.size()) - 1;
        return is_given_ ? given_[std::min(step, 1)]
                         : factors_[std::size_t(std::clamp<Index>(row_ - 1 + step, 0, last))];
    }
    /// A component of a uniform force in a step with this factor.
    double uniform(int d, double factor) const { return is_scaled() ? uniform_[d] * factor : uniform_[d]; }
    /// The force without the fields.
    template <class Number>
    MomentForce<Number> now(const MomentForceRows& rows) const {
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
    bool is_any_ = false, is_given_ = true;
    double uniform_[3] = {};
    int series_ = -1;
    std::vector<double> factors_;  // of the force, row by row
    Index row_ = 0;                // of the next step
    double given_[2] = {1, 1};     // until a row is set: of the step before, and of the next one
};

}  // namespace lbm::backend
