// Gives a GPU the fields of an initial state, cut into layers of cells one after the other.
#pragma once

#include <algorithm>

#include "../gpu_inputs.h"
#include "gpu_arrays.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

/// Calls visit(fields of some layers, the rows of the block in them, the rows of the fields given that they are) for
/// all layers along the last axis, each time for so few that their numbers take 256 MiB or are one layer. All cells are
/// visited at once where not `any` field is given for each cell, and where gradients are wanted, which need the next
/// layers too.
template <class Visit>
void for_initial_layers(const backend::InitialFields& fields, bool any, const Address& address, Visit&& visit) {
    if (!any || fields.periodic != nullptr) {
        visit(fields, RowRange{0, Index(address.ny) * address.nz}, RowRange{0, Index(fields.size[1]) * fields.size[2]});
        return;
    }
    constexpr Index most_cells = (Index(256) << 20) / Index(5 * sizeof(double));
    const int axis = fields.size[2] > 1 ? 2 : 1;
    const int layers = axis == 2 ? address.nz : address.ny;
    const Index rows_of_layer = axis == 2 ? address.ny : 1;
    const Index given_rows = axis == 2 ? fields.size[1] : 1, cells_of_layer = fields.size[0] * given_rows;
    const int step = int(std::clamp<Index>(most_cells / cells_of_layer, 1, layers));
    for (int first = 0; first < layers; first += step) {
        const int count = std::min(step, layers - first);
        backend::InitialFields part = fields;
        part.corner[axis] = -first;  // cells of the block are counted from its own corner
        part.size[axis] = count;
        const Index given_first = fields.corner[axis] + first;
        visit(part, RowRange{first * rows_of_layer, (first + count) * rows_of_layer},
              RowRange{given_first * given_rows, (given_first + count) * given_rows});
    }
}

/// The copies of an initial state's fields on a GPU: its solid cells as a whole, its numbers only for some layers at a
/// time, as the GPU need not have room for all.
class DeviceInitialFields {
public:
    /// Copies what all layers need. The `fields` and `arrays` must outlive this.
    DeviceInitialFields(const WorkStream& stream, const backend::InitialFields& fields,
                        const backend::GpuFields& arrays, int dimensions)
        : stream_(stream),
          fields_(fields),
          dimensions_(dimensions),
          cells_(Index(fields.size[0]) * fields.size[1] * fields.size[2]),
          given_density_(source(fields.density, arrays.density, arrays)),
          given_velocity_(source(fields.velocity, arrays.velocity, arrays)),
          given_temperature_(source(fields.temperature, arrays.temperature, arrays)) {
        upload(solid_, stream_, fields.solid, fields.solid == nullptr ? 0 : std::size_t(cells_));
        upload(periodic_, stream_, fields.periodic, fields.periodic == nullptr ? 0 : 3);
    }

    /// Whether a field is given for each cell.
    bool any() const { return !given_density_.empty() || !given_velocity_.empty() || !given_temperature_.empty(); }

    /// Some layers as for_initial_layers visits them, with pointers to their copies, which the next call replaces. Work
    /// that reads these must have completed by then.
    backend::InitialFields given(backend::InitialFields layers, RowRange rows) {
        for (DeviceBuffer* last : {&density_, &velocity_, &temperature_}) {
            *last = DeviceBuffer();
        }
        put(density_, given_density_, 1, rows);
        put(velocity_, given_velocity_, dimensions_, rows);
        put(temperature_, given_temperature_, 1, rows);
        layers.density = density_.as<double>();
        layers.velocity = velocity_.as<double>();
        layers.temperature = temperature_.as<double>();
        layers.solid = solid_.as<unsigned char>();
        layers.periodic = periodic_.as<bool>();
        return layers;
    }

private:
    static FieldSource source(const double* host, const backend::GpuArray* array, const backend::GpuFields& arrays) {
        const int(&corner)[3] = arrays.corner;
        return {host, {array, {corner[0], corner[1], corner[2]}}};
    }

    void put(DeviceBuffer& buffer, const FieldSource& field, int components, RowRange rows) {
        if (field.empty()) {
            return;
        }
        const std::size_t bytes = sizeof(double) * std::size_t((rows.last - rows.first) * fields_.size[0]);
        buffer = DeviceBuffer(stream_.ordinal(), bytes * std::size_t(components));
        for (int d = 0; d < components; ++d) {
            copy_component(field, fields_.size[0], fields_.size[1], cells_, rows, d, stream_,
                           buffer.address() + bytes * std::size_t(d));
        }
    }

    const WorkStream& stream_;
    const backend::InitialFields& fields_;
    int dimensions_;
    Index cells_;  // of the box
    FieldSource given_density_, given_velocity_, given_temperature_;
    DeviceBuffer solid_, periodic_, density_, velocity_, temperature_;
};

/// Sets the initial state of a block, some layers at a time; returns when it is set.
inline void initialize_layers(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream,
                              KernelSet& kernels, const backend::InitialFields& fields,
                              const backend::GpuFields& arrays, const StateArguments& state) {
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        DeviceInitialFields on_device(stream, fields, arrays, S::D);
        const Kernel& kernel = kernels.get(state_kernel(spec, "fields.h", "initialize"));
        const auto set = [&](const backend::InitialFields& layers, RowRange rows, RowRange given) {
            const backend::InitialState<S> initial{on_device.given(layers, given), spec.omega, spec.compressibility};
            kernel.launch(stream, flat((rows.last - rows.first) * address.nx), state, initial, rows);
            stream.synchronize();
        };
        for_initial_layers(fields, on_device.any(), address, set);
    });
}

}  // namespace lbm::cuda
