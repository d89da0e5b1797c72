// Kernels for the statistics of cells: a sample of the state, sums over axes, initial numbers.
#pragma once

#include "state_access.h"

namespace lbm::cuda {

/// Writes those of the quantities of a cell that the slots need.
template <class S, class Real, class Stored, backend::SlotMask slots>
__device__ void sampled_values(const StateAccess<S, Real, Stored>& state, int x, Index row,
                               double (&value)[backend::sampled_quantities]) {
    constexpr int temperature = backend::sampled_quantities - 1;
    if constexpr (Stencil<S>::multispeed) {
        const Gas<Real> gas = state.gas(x, row);
        value[0] = double(gas.deviation);
        value[1] = double(gas.u[0]);
        value[2] = double(gas.u[1]);
        value[3] = 0;
        value[temperature] = double(backend::temperature_of<S>(gas));
    } else {
        Real deviation, u[3];
        state.moments(x, row, deviation, u);
        value[0] = double(deviation);
        for (int d = 0; d < 3; ++d) {
            value[1 + d] = double(u[d]);
        }
        value[temperature] = 0;
        if constexpr (backend::needs_quantity(slots, temperature)) {
            value[temperature] = double(state.temperature(x, row));
        }
    }
}

/// Changes the statistics of all fluid cells by the state after the last step. The numbers of a cell are loaded before
/// its populations are added up, so that the memory latency is waited for once.
template <class S, class Real, class Stored, backend::SlotMask slots>
__global__ void sample_cells(const __grid_constant__ StatisticsArguments all) {
    const StateAccess<S, Real, Stored> state{all.state};
    for_cells(all.state.address, RowRange{0, state.rows()}, [&](int x, Index row, Index at) {
        if (state.solid(at)) {
            return;
        }
        double number[backend::statistics_slots], value[backend::sampled_quantities];
        static_for<backend::statistics_slots>([&]<int k>() {
            if constexpr (backend::has_slot(slots, k)) {
                number[k] = all.numbers[k][at];
            }
        });
        sampled_values<S, Real, Stored, slots>(state, x, row, value);
        backend::add_sample<slots>(value, all.weight, number);
        static_for<backend::statistics_slots>([&]<int k>() {
            if constexpr (backend::has_slot(slots, k)) {
                all.numbers[k][at] = number[k];
            }
        });
    });
}

constexpr int statistics_threads = 256;

/// Adds the numbers of the fluid cells to sums over axes in fixed point. Bits 0, 1, 2 of `over` are set for the axes
/// x, y, z. A thread block has a row at a time.
template <int over>
__global__ void sum_statistics(const double* numbers, const unsigned char* solid, int nx, int ny, int nz,
                               unsigned long long* sums) {
    constexpr int words = backend::FixedPoint::words;
    constexpr bool over_x = (over & 1) != 0, over_y = (over & 2) != 0, over_z = (over & 4) != 0;
    const Index stride_y = over_y ? 0 : over_x ? 1 : nx;
    const Index stride_z = over_z ? 0 : Index(over_x ? 1 : nx) * (over_y ? 1 : ny);
    __shared__ unsigned long long shared[statistics_threads][words];
    for (Index row = blockIdx.x; row < Index(ny) * nz; row += gridDim.x) {
        unsigned long long* out = sums + words * (row % ny * stride_y + row / ny * stride_z);
        unsigned long long own[words] = {};
        for (int x = int(threadIdx.x); x < nx; x += statistics_threads) {
            const Index cell = row * nx + x;
            if (solid != nullptr && solid[cell] != 0) {
                continue;
            }
            const backend::FixedPoint value = backend::fixed_point(numbers[cell]);
            for (int w = 0; w < words; ++w) {
                if (over_x) {
                    own[w] += static_cast<unsigned long long>(value.word[w]);
                } else {
                    atomicAdd(out + Index(words) * x + w, static_cast<unsigned long long>(value.word[w]));
                }
            }
        }
        if (over_x) {
            for (int w = 0; w < words; ++w) {
                shared[threadIdx.x][w] = own[w];
            }
            for (int half = statistics_threads / 2; half > 0; half /= 2) {
                __syncthreads();
                if (int(threadIdx.x) < half) {
                    for (int w = 0; w < words; ++w) {
                        shared[threadIdx.x][w] += shared[threadIdx.x + half][w];
                    }
                }
            }
            if (threadIdx.x == 0) {
                for (int w = 0; w < words; ++w) {
                    atomicAdd(out + w, shared[0][w]);
                }
            }
            __syncthreads();
        }
    }
}

/// Sets `count` numbers.
template <class T>
__global__ void fill_numbers(T* numbers, Index count, T value) {
    const Index stride = Index(gridDim.x) * blockDim.x;
    for (Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
        numbers[k] = value;
    }
}

}  // namespace lbm::cuda
