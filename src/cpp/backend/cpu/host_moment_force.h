// The force on the cells of a block on the CPU whose state is moments: uniform or a field, as it is or scaled by a
// factor of each step. Of one that is scaled the fixed part is kept in float64, in which the product is computed where
// it is read.
#pragma once

#include "../moment_force_state.h"
#include "buffer.h"
#include "threads.h"

namespace lbm::cpu {

template <class S, class Real>
class HostMomentForce {
public:
    explicit HostMomentForce(const Address& address) : rows_(address, S::D) {}

    std::size_t bytes() const { return rows_of_field_.bytes(); }
    backend::MomentForceState& state() { return state_; }
    const backend::MomentForceState& state() const { return state_; }

    /// See BlockState::set_force().
    void set(const double* uniform, const double* field, int series, int threads) {
        state_.set(S::D, uniform, field, series);
        if (field == nullptr) {
            rows_of_field_ = Buffer();
        } else if (state_.is_scaled()) {
            put<double>(field, threads);
        } else {
            put<Real>(field, threads);
        }
    }
    /// As updates take it now.
    backend::MomentForce<double> now() const {
        backend::MomentForce<double> force = state_.template now<double>(rows_);
        if (rows_of_field_.bytes() > 0) {
            force.field = state_.is_scaled() ? nullptr : rows_of_field_.as<void>();
            force.part = state_.is_scaled() ? rows_of_field_.as<double>() : nullptr;
        }
        return force;
    }

    /// Sets `force` to that on a cell: with which the state was made, for step 0, or of the next step, for 1.
    void at(int step, int x, int y, int z, double (&force)[3]) const {
        const double factor = state_.factor(step);
        for (int d = 0; d < S::D; ++d) {
            const Index place = rows_.row(y, z) + d * rows_.pitch + x;
            if (rows_of_field_.bytes() == 0) {
                force[d] = state_.uniform(d, factor);
            } else if (state_.is_scaled()) {
                force[d] = double(Real(rows_of_field_.as<double>()[place] * factor));
            } else {
                force[d] = double(rows_of_field_.as<Real>()[place]);
            }
        }
    }

private:
    template <class Number>
    void put(const double* field, int threads) {
        const std::size_t bytes = std::size_t(rows_.numbers()) * sizeof(Number);
        if (rows_of_field_.bytes() != bytes) {
            rows_of_field_ = Buffer(bytes);
        }
        parallel_shares(threads, rows_.cells_z(), [&](Index first, Index last) {
            for (auto z = int(first) - rows_.around_z; z < int(last) - rows_.around_z; ++z) {
                rows_.put_layer(S::D, field, z, rows_of_field_.as<Number>() + rows_.first_of_layer(z));
            }
        });
    }

    backend::MomentForceRows rows_;
    backend::MomentForceState state_;
    Buffer rows_of_field_;
};

}  // namespace lbm::cpu
