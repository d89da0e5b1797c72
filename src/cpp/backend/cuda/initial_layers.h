// Gives a GPU the fields of an initial state, cut into layers of cells one after the other.
#pragma once

#include <algorithm>

#include "../initial_state.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

/// Calls visit(fields of some layers, the rows of the block in them, index of their first cell in the fields given) for
/// all layers along the last axis, each time for so few that their numbers take 256 MiB or are one layer. All cells are
/// visited at once where nothing is given for each cell, and where gradients are wanted, which need the next layers
/// too.
template <class Visit>
void for_initial_layers(const backend::InitialFields& fields, const Address& address, Visit&& visit) {
    const bool any = fields.density != nullptr || fields.velocity != nullptr || fields.temperature != nullptr;
    if (!any || fields.periodic != nullptr) {
        visit(fields, RowRange{0, Index(address.ny) * address.nz}, Index(0));
        return;
    }
    constexpr Index most_cells = (Index(256) << 20) / Index(5 * sizeof(double));
    const int axis = fields.size[2] > 1 ? 2 : 1;
    const int layers = axis == 2 ? address.nz : address.ny;
    const Index rows_of_layer = axis == 2 ? address.ny : 1;
    const Index cells_of_layer = Index(fields.size[0]) * (axis == 2 ? fields.size[1] : 1);
    const int step = int(std::clamp<Index>(most_cells / cells_of_layer, 1, layers));
    for (int first = 0; first < layers; first += step) {
        const int count = std::min(step, layers - first);
        backend::InitialFields part = fields;
        part.corner[axis] = -first;  // cells of the block are counted from its own corner
        part.size[axis] = count;
        visit(part, RowRange{first * rows_of_layer, (first + count) * rows_of_layer},
              (fields.corner[axis] + first) * cells_of_layer);
    }
}

/// The copies of an initial state's fields on a GPU: its solid cells as a whole, its numbers only for some layers at a
/// time, as the GPU need not have room for all.
class DeviceInitialFields {
public:
    /// Copies what all layers need. The `fields` must outlive this.
    DeviceInitialFields(const WorkStream& stream, const backend::InitialFields& fields, int dimensions)
        : stream_(stream), fields_(fields), dimensions_(dimensions), given_cells_(count(fields)) {
        upload(solid_, stream_, fields.solid, fields.solid == nullptr ? 0 : std::size_t(given_cells_));
        upload(periodic_, stream_, fields.periodic, fields.periodic == nullptr ? 0 : 3);
    }

    /// Some layers as for_initial_layers visits them, with pointers to their copies, which the next call replaces. Work
    /// that reads these must have completed by then.
    backend::InitialFields given(backend::InitialFields layers, Index first) {
        const Index cells = count(layers);
        for (DeviceBuffer* last : {&density_, &velocity_, &temperature_}) {
            *last = DeviceBuffer();
        }
        put(density_, fields_.density, 1, first, cells);
        put(velocity_, fields_.velocity, dimensions_, first, cells);
        put(temperature_, fields_.temperature, 1, first, cells);
        layers.density = density_.as<double>();
        layers.velocity = velocity_.as<double>();
        layers.temperature = temperature_.as<double>();
        layers.solid = solid_.as<unsigned char>();
        layers.periodic = periodic_.as<bool>();
        return layers;
    }

private:
    static Index count(const backend::InitialFields& fields) {
        return Index(fields.size[0]) * fields.size[1] * fields.size[2];
    }

    void put(DeviceBuffer& buffer, const double* field, int components, Index first, Index cells) {
        if (field == nullptr) {
            return;
        }
        const std::size_t bytes = sizeof(double) * std::size_t(cells);
        buffer = DeviceBuffer(stream_.ordinal(), bytes * std::size_t(components));
        for (int d = 0; d < components; ++d) {
            stream_.copy_to_device(buffer.address() + bytes * std::size_t(d), field + d * given_cells_ + first, bytes);
        }
    }

    const WorkStream& stream_;
    const backend::InitialFields& fields_;
    int dimensions_;
    Index given_cells_;
    DeviceBuffer solid_, periodic_, density_, velocity_, temperature_;
};

/// Sets the initial state of a block, some layers at a time; returns when it is set.
inline void initialize_layers(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream,
                              KernelSet& kernels, const backend::InitialFields& fields, const StateArguments& state) {
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        DeviceInitialFields on_device(stream, fields, S::D);
        const Kernel& kernel = kernels.get(state_kernel(spec, "fields.h", "initialize"));
        for_initial_layers(fields, address, [&](const backend::InitialFields& layers, RowRange rows, Index first) {
            const backend::InitialState<S> initial{on_device.given(layers, first), spec.omega, spec.compressibility};
            kernel.launch(stream, flat((rows.last - rows.first) * address.nx), state, initial, rows);
            stream.synchronize();
        });
    });
}

}  // namespace lbm::cuda
