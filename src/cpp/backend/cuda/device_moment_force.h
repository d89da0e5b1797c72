// The force on the cells of a block on a GPU whose state is moments: uniform or a field, as it is or scaled by a factor
// of each step. Of one that is scaled the fixed part is kept in float64, in which the product is computed where it is
// read.
#pragma once

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "../moment_scaling.h"
#include "kernels/update_kinds.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceMomentForce {
public:
    /// Keeps references to the stream and the scaling, which must outlive it.
    DeviceMomentForce(const backend::BlockSpec& spec, const Address& address, int D, const WorkStream& stream,
                      backend::MomentScaling& scaling)
        : precision_(spec.precision), D_(D), rows_(address, D), stream_(stream), scaling_(scaling) {}

    std::size_t bytes() const { return rows_of_field_.bytes(); }
    Forcing kind() const { return kind_; }

    /// See BlockState::set_force(). If the upload fails there is none, rather than a part of one.
    void set(const double* uniform, const double* field, int series) {
        kind_ = Forcing::None;
        scaling_.set_force(D_, nullptr, nullptr, -1);
        if (field == nullptr) {
            rows_of_field_ = DeviceBuffer();
        } else if (series >= 0) {
            put<double>(field);
        } else {
            backend::with_real(precision_, [&](auto real) { put<decltype(real)>(field); });
        }
        scaling_.set_force(D_, uniform, field, series);
        if (field != nullptr) {
            kind_ = series >= 0 ? Forcing::ScaledField : Forcing::Field;
        } else if (series >= 0) {
            kind_ = Forcing::ScaledUniform;
        } else if (uniform != nullptr && std::any_of(uniform, uniform + D_, [](double f) { return f != 0; })) {
            kind_ = Forcing::Uniform;
        }
    }
    /// As updates and readers take it now.
    template <class Number>
    backend::MomentForce<Number> now() const {
        backend::MomentForce<Number> force = scaling_.template force<Number>(rows_);
        force.is_any = kind_ != Forcing::None;
        force.field = kind_ == Forcing::Field ? rows_of_field_.as<void>() : nullptr;
        force.part = kind_ == Forcing::ScaledField ? rows_of_field_.as<double>() : nullptr;
        return force;
    }

private:
    template <class Number>
    void put(const double* field) {
        if (rows_.numbers() > Index(std::numeric_limits<UInt32>::max())) {  // updates count in these
            throw std::invalid_argument("force: a field of so large a block is not possible where cells keep moments");
        }
        const std::size_t bytes = std::size_t(rows_.numbers()) * sizeof(Number);
        if (rows_of_field_.bytes() != bytes) {
            rows_of_field_ = DeviceBuffer();
            rows_of_field_ = DeviceBuffer(stream_.ordinal(), bytes);
        }
        stream_.clear(rows_of_field_.address(), bytes);
        std::vector<Number> layer(std::size_t(rows_.layer_stride()), Number(0));
        for (int z = -rows_.around_z; z < rows_.nz + rows_.around_z; ++z) {
            rows_.put_layer(D_, field, z, layer.data());
            stream_.copy_to_device(rows_of_field_.address() + std::size_t(rows_.first_of_layer(z)) * sizeof(Number),
                                   layer.data(), layer.size() * sizeof(Number));
            stream_.synchronize();
        }
    }

    backend::NumberKind precision_;
    int D_;
    backend::MomentForceRows rows_;
    const WorkStream& stream_;
    backend::MomentScaling& scaling_;
    Forcing kind_ = Forcing::None;
    DeviceBuffer rows_of_field_;
};

}  // namespace lbm::cuda
