// Kernels that read arrays of users in a GPU's memory: to rows of doubles, their extremes, and their sum in order.
#pragma once

#include "../../field_extremes.h"
#include "../../gpu_array.h"
#include "flat_block.h"

namespace lbm::cuda {

constexpr int cells_of_tile = 2048;  // that sum_in_order has in shared memory, twice

/// A number of an array as NumPy converts it to a double: a kernel that loads a denormal float flushes it to zero, so
/// such a one is made of its bits.
template <class Number>
__device__ double number_at(const backend::GpuArray& a, Index offset) {
    if constexpr (IsSame<Number, double>::value) {
        return *reinterpret_cast<const double*>(a.data + offset);
    } else {
        const UInt32 bits = *reinterpret_cast<const UInt32*>(a.data + offset), magnitude = bits & 0x7fffffffU;
        if (magnitude < 0x00800000U) {
            const double value = double(magnitude) * 0x1p-149;
            return bits == magnitude ? value : -value;
        }
        return double(__builtin_bit_cast(float, bits));
    }
}

/// Writes a component for some rows of a box.
template <class Number>
__global__ void gather(const __grid_constant__ backend::GpuArray a, const __grid_constant__ backend::BoxRows box,
                       int component, double* out) {
    const Index count = box.count(), stride = Index(gridDim.x) * blockDim.x;
    for (Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
        const Index row = at / box.nx;
        const int x = int(at - row * box.nx), z = int((box.first_row + row) / box.ny);
        const int y = int(box.first_row + row - Index(z) * box.ny);
        const double value =
            number_at<Number>(a, a.offset(component, box.corner[0] + x, box.corner[1] + y, box.corner[2] + z));
        out[at] = a.reference == 0 ? value : value - a.reference;
    }
}

/// The extremes of the thread block's cells.
template <class Number>
__global__ void field_extremes(const __grid_constant__ backend::GpuArray a,
                               const __grid_constant__ backend::BoxRows box, backend::FieldExtremes* partial) {
    __shared__ backend::FieldExtremes shared[flat_block];
    backend::FieldExtremes own = backend::FieldExtremes::of_none();
    const Index count = box.count(), stride = Index(gridDim.x) * blockDim.x;
    for (Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
        const Index row = at / box.nx;
        const int x = int(at - row * box.nx), z = int((box.first_row + row) / box.ny);
        const int y = int(box.first_row + row - Index(z) * box.ny);
        const Index offset = a.offset(0, box.corner[0] + x, box.corner[1] + y, box.corner[2] + z);
        const int components = a.components == 0 ? 1 : a.components;
        double vector[3] = {};
        for (int d = 0; d < components; ++d) {
            vector[d] = number_at<Number>(a, offset + d * a.component_stride);
        }
        own.add(vector, components);
    }
    shared[threadIdx.x] = own;
    for (int half = flat_block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half) {
            shared[threadIdx.x].join(shared[threadIdx.x + half]);
        }
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = shared[0];
    }
}

/// Adds the numbers of a box to `start`, cell by cell, each sum rounded, as the host does. One thread does so, from
/// tiles of shared memory that the others of its thread block fill meanwhile.
template <class Number>
__global__ void sum_in_order(const __grid_constant__ backend::GpuArray a, const __grid_constant__ backend::BoxRows box,
                             const unsigned char* solid, double start, double* sum) {
    __shared__ double tiles[2][cells_of_tile];
    const Index count = box.count(), tile_count = (count + cells_of_tile - 1) / cells_of_tile;
    const int loading = int(blockDim.x) - 32;  // all but the warp that adds
    double total = start;
    for (Index tile = 0; tile <= tile_count; ++tile) {
        if (threadIdx.x >= 32 && tile < tile_count) {
            for (int k = int(threadIdx.x) - 32; k < cells_of_tile; k += loading) {
                const Index at = tile * cells_of_tile + k, row = at / box.nx;
                const int x = int(at - row * box.nx), z = int(row / box.ny), y = int(row - Index(z) * box.ny);
                const bool counts = at < count && (solid == nullptr || solid[at] == 0);
                tiles[tile % 2][k] =
                    counts ? number_at<Number>(a, a.offset(0, box.corner[0] + x, box.corner[1] + y, box.corner[2] + z))
                           : 0.0;
            }
        } else if (threadIdx.x == 0 && tile > 0) {
            const double* numbers = tiles[(tile - 1) % 2];
#pragma unroll 16
            for (int k = 0; k < cells_of_tile; ++k) {
                total += numbers[k];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *sum = total;
    }
}

}  // namespace lbm::cuda
