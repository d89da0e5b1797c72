// The body force on a block on a GPU: uniform, or a field.
#pragma once

#include <stdexcept>

#include "../block_layout.h"
#include "field_rows.h"
#include "field_staging.h"
#include "kernels/update_kinds.h"

namespace lbm::cuda {

class DeviceForce {
public:
    /// Keeps references to the arguments, which are the block's and must outlive it.
    DeviceForce(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream, FieldStaging& staging)
        : spec_(spec), address_(address), stream_(stream), staging_(staging) {}

    std::size_t bytes() const { return rows_.bytes(); }
    Forcing kind() const { return kind_; }
    const double (&uniform() const)[3] { return uniform_; }
    /// The rows of the field, in the arithmetic type; null for a uniform force.
    template <class T>
    T* rows() const {
        return rows_.as<T>();
    }

    /// Sets a uniform force of D components, a field of as many, or none. `state()` returns the block's StateArguments;
    /// it is called once the rows have been allocated.
    template <class State>
    void set(const double* uniform, const FieldSource& field, State&& state) {
        const int D = dimensions();
        const Index numbers = Index(address_.ny) * address_.nz * D * backend::field_pitch(address_.nx);
        rows_.set(stream_, std::size_t(numbers) * backend::size_of(spec_.precision), field, [&] {
            kind_ = Forcing::None;  // if the upload fails there is no force, rather than a part of one
            staging_.write_components(state(), "set_force", D, field);
        });
        for (int d = 0; d < 3; ++d) {
            uniform_[d] = uniform != nullptr && d < D ? uniform[d] : 0;
        }
        kind_ = uniform != nullptr ? Forcing::Uniform : field.empty() ? Forcing::None : Forcing::Field;
    }

    /// Reads the field; throws std::invalid_argument if there is none.
    void read(const StateArguments& state, double* out) const {
        if (kind_ != Forcing::Field) {
            throw std::invalid_argument("force: there is no field of it");
        }
        staging_.read_components(state, "get_force", "", dimensions(), out);
    }

private:
    int dimensions() const {
        return backend::with_stencil(spec_.stencil, [](auto s) { return decltype(s)::D; });
    }

    const backend::BlockSpec& spec_;
    const Address& address_;
    const WorkStream& stream_;
    FieldStaging& staging_;
    Forcing kind_ = Forcing::None;
    double uniform_[3] = {spec_.gravity[0], spec_.gravity[1], spec_.gravity[2]};
    FieldRows rows_;
};

}  // namespace lbm::cuda
