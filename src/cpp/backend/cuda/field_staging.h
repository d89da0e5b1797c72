// Copies fields and populations between a block on a GPU and host arrays, through a staging buffer that holds some rows
// at a time.
#pragma once

#include <algorithm>

#include "../block_state.h"
#include "device.h"
#include "gpu_arrays.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

class FieldStaging {
public:
    /// Keeps references to the arguments, which are the block's and must outlive it.
    FieldStaging(const backend::BlockSpec& spec, const Address& address, const WorkStream& stream, KernelSet& kernels)
        : spec_(spec), address_(address), stream_(stream), kernels_(kernels) {}

    std::size_t bytes() const { return buffer_.bytes(); }

    /// Reads a field with a kernel that computes all components of a range of rows; `more` are further arguments of it.
    template <class Out, class... More>
    void read_fields(const StateArguments& state, const char* name, int components, Out* out,
                     const char* header = "fields.h", More... more) {
        const Kernel& k = kernels_.get(state_kernel(spec_, header, name, sizeof(Out) == 8 ? "double" : "float"));
        for_ranges(sizeof(Out) * std::size_t(components), [&](RowRange range) {
            const Index count = (range.last - range.first) * address_.nx;
            k.launch(stream_, flat(count), state, range, buffer_.as<Out>(), more...);
            for (int d = 0; d < components; ++d) {
                stream_.copy_to_host(out + d * cells() + range.first * address_.nx,
                                     buffer_.address() + sizeof(Out) * std::size_t(d * count),
                                     sizeof(Out) * std::size_t(count));
            }
            stream_.synchronize();
        });
    }

    /// Reads a field in a box of cells with a kernel that computes all components of a box.
    template <class Out>
    void read_box(const StateArguments& state, const char* name, int components, const backend::CellBox& box,
                  Out* out) {
        const Kernel& k = kernels_.get(state_kernel(spec_, "fields.h", name, sizeof(Out) == 8 ? "double" : "float"));
        const std::size_t row_bytes = sizeof(Out) * std::size_t(components) * std::size_t(box.nx);
        const int rows = int(std::clamp<std::size_t>(most_bytes / row_bytes, 1, std::size_t(Index(box.ny) * box.nz)));
        const int layers = std::max(rows / box.ny, 1), most = std::min(rows, box.ny);  // layers have all their rows
        reserve(std::size_t(layers) * std::size_t(most) * row_bytes);
        Index done = 0;
        for (int z = 0; z < box.nz; z += layers) {
            for (int y = 0; y < box.ny; y += most) {
                const backend::CellBox part{
                    box.x, box.y + y, box.z + z, box.nx, std::min(most, box.ny - y), std::min(layers, box.nz - z)};
                k.launch(stream_, flat(part.count()), state, part, buffer_.as<Out>());
                for (int d = 0; d < components; ++d) {
                    stream_.copy_to_host(out + d * box.count() + done,
                                         buffer_.address() + sizeof(Out) * std::size_t(d * part.count()),
                                         sizeof(Out) * std::size_t(part.count()));
                }
                stream_.synchronize();
                done += part.count();
            }
        }
    }

    /// Reads a field with a kernel that computes one component of it, such as a population, for a range of rows.
    template <class Out>
    void read_components(const StateArguments& state, const char* name, const char* type, int components, Out* out,
                         const char* header = "fields.h") {
        const Kernel& k = kernels_.get(state_kernel(spec_, header, name, type));
        for_ranges(sizeof(Out), [&](RowRange range) {
            const Index count = (range.last - range.first) * address_.nx;
            for (int i = 0; i < components; ++i) {
                k.launch(stream_, flat(count), state, range, i, buffer_.as<Out>());
                stream_.copy_to_host(out + i * cells() + range.first * address_.nx, buffer_.address(),
                                     sizeof(Out) * std::size_t(count));
                stream_.synchronize();
            }
        });
    }

    /// Sets a field with a kernel that sets one component for a range of rows; `more` are further arguments of it.
    template <class In, class... More>
    void write_components(const StateArguments& state, const char* name, int components, const In* values,
                          const char* header = "fields.h", More... more) {
        write<In>(
            state, state_kernel(spec_, header, name), components,
            [&](RowRange range, int i) {
                stream_.copy_to_device(buffer_.address(), values + i * cells() + range.first * address_.nx,
                                       sizeof(In) * std::size_t((range.last - range.first) * address_.nx));
            },
            more...);
    }
    /// The same of a field that may be in a GPU's memory.
    void write_components(const StateArguments& state, const char* name, int components, const FieldSource& field,
                          const char* header = "fields.h") {
        write<double>(state, state_kernel(spec_, header, name), components, [&](RowRange range, int i) {
            copy_component(field, address_.nx, address_.ny, cells(), range, i, stream_, buffer_.address());
        });
    }

private:
    /// Calls copy(range of rows, component), which fills the buffer, before each launch of the kernel.
    template <class In, class Copy, class... More>
    void write(const StateArguments& state, const KernelName& name, int components, Copy&& copy, More... more) {
        const Kernel& k = kernels_.get(name);
        for_ranges(sizeof(In), [&](RowRange range) {
            const Index count = (range.last - range.first) * address_.nx;
            for (int i = 0; i < components; ++i) {
                copy(range, i);
                k.launch(stream_, flat(count), state, range, i, buffer_.as<In>(), more...);
                stream_.synchronize();
            }
        });
    }

    static constexpr std::size_t most_bytes = std::size_t(64) << 20;

    Index rows() const { return Index(address_.ny) * address_.nz; }
    Index cells() const { return rows() * address_.nx; }

    void reserve(std::size_t needed) {
        if (buffer_.bytes() < needed) {
            buffer_ = DeviceBuffer(stream_.ordinal(), needed);
        }
    }

    /// Calls visit(range) for ranges of rows that fit in the buffer with `bytes_a_cell`.
    template <class Visit>
    void for_ranges(std::size_t bytes_a_cell, Visit&& visit) {
        const std::size_t row_bytes = bytes_a_cell * std::size_t(address_.nx);
        const Index step = std::max<Index>(1, Index(most_bytes / row_bytes));
        reserve(std::size_t(std::min(step, rows())) * row_bytes);
        for (Index first = 0; first < rows(); first += step) {
            visit(RowRange{first, std::min(first + step, rows())});
        }
    }

    const backend::BlockSpec& spec_;
    const Address& address_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    DeviceBuffer buffer_;
};

}  // namespace lbm::cuda
