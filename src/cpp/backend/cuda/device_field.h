// Computes a field of a block as a new array in the GPU's memory.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "../block_state.h"
#include "field_buffer.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// Makes a field in the arithmetic type, and returns when it is complete. Throws std::invalid_argument for the
/// temperature of a model that has none.
inline std::shared_ptr<backend::DeviceArray> make_device_field(const backend::BlockSpec& spec, const Address& address,
                                                               const WorkStream& stream, KernelSet& kernels,
                                                               const StateArguments& state, backend::FieldName name,
                                                               double reference) {
    using backend::FieldName;
    if (name == FieldName::Temperature && !backend::has_temperature(spec)) {
        throw std::invalid_argument("temperature: the fluid has none, as nothing thermal was set up");
    }
    const int D = backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; });
    const int Q = backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::Q; });
    const int components = name == FieldName::Velocity ? D : name == FieldName::Populations ? Q : 0;
    const Index rows = Index(address.ny) * address.nz, cells = rows * address.nx;
    const RowRange all{0, rows};
    const std::size_t item = backend::size_of(spec.precision);
    auto field = std::make_shared<FieldBuffer>(
        stream.ordinal(), item * std::size_t(cells) * std::size_t(std::max(components, 1)), components, item);
    const std::string type = type_name(spec.precision);
    auto* out = static_cast<char*>(field->data());
    if (name == FieldName::Populations) {
        const Kernel& k = kernels.get(state_kernel(spec, "fields.h", "population", type));
        for (int i = 0; i < Q; ++i) {
            k.launch(stream, flat(cells), state, all, i, static_cast<void*>(out + std::size_t(i * cells) * item));
        }
    } else if (name == FieldName::Temperature) {
        kernels.get(state_kernel(spec, "heat.h", "temperature", type))
            .launch(stream, flat(cells), state, all, static_cast<void*>(out), reference);
    } else {
        kernels.get(state_kernel(spec, "fields.h", components == 0 ? "density" : "velocity", type))
            .launch(stream, flat(cells), state, backend::CellBox{0, 0, 0, address.nx, address.ny, address.nz},
                    static_cast<void*>(out));
    }
    stream.synchronize();
    return field;
}

}  // namespace lbm::cuda
