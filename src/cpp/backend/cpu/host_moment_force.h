// The force on the cells of a block on the CPU whose state is moments: uniform or a field, as it is or scaled by a
// factor of each step. Of one that is scaled the fixed part is kept in float64, in which the product is computed where
// it is read.
#pragma once

#include "../moment_scaling.h"
#include "buffer.h"
#include "threads.h"

namespace lbm::cpu {

template <class S, class Real>
class HostMomentForce {
public:
    /// Keeps a reference to the scaling, which is the block's and must outlive it.
    HostMomentForce(const Address& address, backend::MomentScaling& scaling)
        : rows_(address, S::D), scaling_(scaling) {}

    std::size_t bytes() const { return rows_of_field_.bytes(); }

    /// See BlockState::set_force().
    void set(const double* uniform, const double* field, int series, int threads) {
        scaling_.set_force(S::D, uniform, field, series);
        if (field == nullptr) {
            rows_of_field_ = Buffer();
            return;
        }
        if constexpr (sizeof(Real) < sizeof(double)) {
            if (!scaling_.scales_force()) {
                put<Real>(field, threads);
                return;
            }
        }
        put<double>(field, threads);
    }
    /// As updates take it now.
    backend::MomentForce<double> now() const {
        backend::MomentForce<double> force = scaling_.template force<double>(rows_);
        if (rows_of_field_.bytes() > 0) {
            force.field = scaling_.scales_force() ? nullptr : rows_of_field_.as<void>();
            force.part = scaling_.scales_force() ? rows_of_field_.as<double>() : nullptr;
        }
        return force;
    }

    /// Sets `force` to that on a cell: with which the state was made, for step 0, or of the next step, for 1.
    void at(int step, int x, int y, int z, double (&force)[3]) const {
        const double factor = scaling_.factor(step);
        for (int d = 0; d < S::D; ++d) {
            const Index place = rows_.row(y, z) + d * rows_.pitch + x;
            if (rows_of_field_.bytes() == 0) {
                force[d] = scaling_.uniform(d, factor);
            } else if (scaling_.scales_force()) {
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
    backend::MomentScaling& scaling_;
    Buffer rows_of_field_;
};

}  // namespace lbm::cpu
