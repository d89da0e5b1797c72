// The force on the cells of a block on a GPU: uniform or a field, as it is or scaled by a factor of each step. Of one
// that is scaled the fixed part is kept in float64, in which the product is computed where it is read.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "../block_layout.h"
#include "device_scaling.h"
#include "field_rows.h"
#include "field_staging.h"

namespace lbm::cuda {

class DeviceForce {
public:
    /// Keeps references to the arguments, which are the block's and must outlive it.
    DeviceForce(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream, FieldStaging& staging,
                DeviceScaling& scaling)
        : spec_(spec), address_(address), stream_(stream), staging_(staging), scaling_(scaling) {}

    std::size_t bytes() const { return field_.bytes(); }
    Forcing kind() const { return kind_; }

    /// See BlockState::set_force(). `state` returns the arguments of the block, which put() has completed; `changed` is
    /// called after the kind has changed. Where there is no memory the force stays as it was; if the upload fails there
    /// is none, rather than a part of one.
    template <class State, class Changed>
    void set(const double* uniform, const FieldSource& field, int series, State&& state, Changed&& changed) {
        const int D = dimensions();
        const Index numbers = Index(address_.ny) * address_.nz * D * pitch();
        const std::size_t bytes = series >= 0 ? sizeof(double) : backend::size_of(spec_.precision);
        const auto become = [&](Forcing kind) {
            const bool is_another = kind != kind_;
            kind_ = kind;
            scaling_.set_force_series(kind == Forcing::None ? -1 : series);
            for (int d = 0; d < 3; ++d) {
                uniform_[d] = uniform != nullptr && d < D && kind != Forcing::None ? uniform[d] : 0;
            }
            if (is_another) {
                changed();
            }
        };
        field_.set(stream_, std::size_t(numbers) * bytes, field, [&] {
            try {
                become(series >= 0 ? Forcing::ScaledField : Forcing::Field);
                staging_.write_components(state(), "set_force", D, field);
            } catch (...) {
                become(Forcing::None);
                throw;
            }
        });
        if (field.empty()) {
            become(uniform == nullptr ? Forcing::None : series >= 0 ? Forcing::ScaledUniform : Forcing::Uniform);
        }
    }

    /// Reads the field; throws std::invalid_argument if there is none, or one that is scaled.
    void read(const StateArguments& state, double* out) const {
        if (kind_ != Forcing::Field) {
            throw std::invalid_argument("force: there is no field of it");
        }
        staging_.read_components(state, "get_force", "", dimensions(), out);
    }

    /// Sets the force among the arguments of kernels between updates.
    void put(StateArguments& a) const {
        std::copy(uniform_, uniform_ + 3, a.force);
        a.force_pitch = pitch();
        a.force_factor = scaling_.force_factor();
        if (scaling_.scales_force()) {
            a.force_part = field_.as<double>();
        } else {
            a.force_field = field_.as<void>();
        }
    }
    /// The same of an update, with the turn of the scaling with which it began.
    template <class Real, class Parameters>
    void put(UpdateArguments<Real, Parameters>& a, int turn) const {
        if (scaling_.scales_force()) {
            std::copy(uniform_, uniform_ + 3, a.scaled_force.uniform);
            a.scaled_force.field = field_.as<double>();
            scaling_.put(a.scaled_force, turn);
        } else {
            std::copy(uniform_, uniform_ + 3, a.force);
            a.force_field = field_.as<Real>();
        }
    }

private:
    Index pitch() const { return backend::field_pitch(address_.nx); }
    int dimensions() const {
        return backend::with_stencil(spec_.stencil, [](auto s) { return decltype(s)::D; });
    }

    const backend::BlockSpec& spec_;
    const Address& address_;
    const WorkStream& stream_;
    FieldStaging& staging_;
    DeviceScaling& scaling_;
    Forcing kind_ = Forcing::None;
    double uniform_[3] = {spec_.gravity[0], spec_.gravity[1], spec_.gravity[2]};
    FieldRows field_;
};

}  // namespace lbm::cuda
