// The force on the cells of a block on the CPU: uniform or a field, as it is or scaled by a factor of each step. Of one
// that is scaled the fixed part is kept in float64, in which the product is computed where it is read.
#pragma once

#include "field_rows.h"
#include "kernels.h"

namespace lbm::cpu {

template <class S, class Real>
class HostForce {
public:
    std::size_t bytes() const { return field_.bytes() + part_.bytes(); }

    /// See BlockState::set_force().
    void set(const Address& address, const double* uniform, const double* field, bool is_scaled, int threads) {
        is_any_ = uniform != nullptr || field != nullptr;
        is_scaled_ = is_scaled;
        for (int d = 0; d < S::D; ++d) {
            uniform_[d] = uniform != nullptr ? uniform[d] : 0;
        }
        field_.set(address, S::D, is_scaled ? nullptr : field, threads);
        part_.set(address, S::D, is_scaled ? field : nullptr, threads);
    }

    /// Whether it is the same on all cells, or there is none.
    bool is_uniform() const { return field_.data() == nullptr && part_.data() == nullptr; }

    /// Sets `force` to that on a cell, without buoyancy; `factor` is that of a force that is scaled.
    void at(const Address& address, double factor, int x, int y, int z, double* force) const {
        for (int d = 0; d < S::D; ++d) {
            if (part_.data() != nullptr) {
                force[d] = double(Real(part_.at(address, S::D, d, x, y, z) * factor));
            } else if (field_.data() != nullptr) {
                force[d] = double(field_.at(address, S::D, d, x, y, z));
            } else {
                force[d] = is_scaled_ ? uniform_[d] * factor : uniform_[d];
            }
        }
    }
    /// Sets the force among the arguments of an update.
    void put(const Address& address, double factor, UpdateArguments& arguments) const {
        arguments.forced = is_any_;
        for (int d = 0; d < S::D; ++d) {
            arguments.force[d] = is_scaled_ ? uniform_[d] * factor : uniform_[d];
        }
        arguments.force_field = field_.data();
        arguments.force_part = part_.data();
        arguments.force_factor = factor;
        arguments.force_pitch = field_.pitch(address);
    }

private:
    bool is_any_ = false, is_scaled_ = false;
    double uniform_[3] = {};
    FieldRows<Real> field_;
    FieldRows<double> part_;
};

}  // namespace lbm::cpu
