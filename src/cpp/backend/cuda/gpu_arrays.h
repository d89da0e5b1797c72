// Reads arrays of users in the memory of GPUs, and copies fields of the host or of such arrays to a block's GPU.
#pragma once

#include <cstdint>

#include "../gpu_inputs.h"
#include "device.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// A field of a box of cells, with x fastest: doubles of the host, or an array in a GPU's memory; or none.
struct FieldSource {
    const double* host = nullptr;
    backend::GpuField gpu{};

    bool empty() const { return host == nullptr && gpu.array == nullptr; }
};

/// Writes a component of an array for some rows of a box to memory of the stream's GPU, as doubles less the array's
/// reference; returns when it is written. The memory must not be in use. An array on another GPU is read there, and
/// sent from GPU to GPU.
void gather(const backend::GpuArray& array, const backend::BoxRows& rows, int component, const WorkStream& stream,
            DevicePointer to);

/// The same of a component of a field of a box with so many cells, where the copy of an array of the host is only
/// enqueued.
void copy_component(const FieldSource& field, int nx, int ny, Index cells, RowRange rows, int component,
                    const WorkStream& stream, DevicePointer to);

/// See gpu_inputs.h.
backend::FieldExtremes extremes(const backend::GpuArray& array, const int (&corner)[3], const int (&size)[3]);
double ordered_sum(const backend::GpuArray& array, const int (&corner)[3], const int (&size)[3],
                   const std::uint8_t* solid, double start);
void copy_to_host(const backend::GpuArray& array, double* out);
void wait_for_stream(int ordinal, std::uintptr_t stream);
int gpu_of(DevicePointer address, int current);

}  // namespace lbm::cuda
