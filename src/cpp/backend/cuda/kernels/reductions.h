// Reductions over the fluid cells of a block: each thread block writes one partial result; the host adds them in order.
#pragma once

#include "../../extremes.h"
#include "state_access.h"

namespace lbm::cuda {

constexpr int reduction_threads = 256;

/// Adds the values of all threads of a thread block in a fixed tree, and writes the sums to out[0 .. N).
template <int N>
__device__ void sum_block(double (&values)[N], double* out) {
    __shared__ double shared[reduction_threads][N];
    for (int k = 0; k < N; ++k) {
        shared[threadIdx.x][k] = values[k];
    }
    for (int half = reduction_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half) {
            for (int k = 0; k < N; ++k) {
                shared[threadIdx.x][k] += shared[threadIdx.x + half][k];
            }
        }
    }
    if (threadIdx.x == 0) {
        for (int k = 0; k < N; ++k) {
            out[k] = shared[0][k];
        }
    }
}

/// Sums mass, three components of momentum, and kinetic energy.
template <class S, class Real, class Stored>
__global__ void totals(const __grid_constant__ StateArguments a, RowRange range, double* partial) {
    const StateAccess<S, Real, Stored> state{a};
    double sums[5] = {};
    for_cells(a.address, range, [&](int x, Index row, Index) {
        if (state.solid(row * a.address.nx + x)) {
            return;
        }
        Real deviation, u[3];
        state.moments(x, row, deviation, u);
        const double inertia = inertia_of_deviation(double(deviation), a.compressibility);
        sums[0] += 1 + double(deviation);
        for (int d = 0; d < S::D; ++d) {
            sums[1 + d] += inertia * u[d];
            sums[4] += 0.5 * inertia * double(u[d]) * u[d];
        }
    });
    sum_block(sums, partial + 5 * Index(blockIdx.x));
}

/// Sums the squared norms of u - last and of u, and sets last = u.
template <class S, class Real, class Stored>
__global__ void velocity_change(const __grid_constant__ StateArguments a, RowRange range, Real* last, double* partial) {
    const StateAccess<S, Real, Stored> state{a};
    double sums[2] = {};
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        if (state.solid(row * a.address.nx + x)) {
            return;
        }
        Real deviation, u[3];
        state.moments(x, row, deviation, u);
        for (int d = 0; d < S::D; ++d) {
            Real& before = last[d * state.cells() + at];
            const double step = double(u[d]) - double(before);
            sums[0] += step * step;
            sums[1] += double(u[d]) * u[d];
            before = u[d];
        }
    });
    sum_block(sums, partial + 2 * Index(blockIdx.x));
}

/// The extremes of the thread block's cells, as numbers in the order of their members.
template <class S, class Real, class Stored>
__global__ void extremes(const __grid_constant__ StateArguments a, RowRange range, double* partial) {
    __shared__ backend::Extremes shared[reduction_threads];
    const StateAccess<S, Real, Stored> state{a};
    backend::Extremes own = backend::Extremes::of_none();
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        if (state.solid(row * a.address.nx + x)) {
            return;
        }
        Real deviation, u[3];
        state.moments(x, row, deviation, u);
        const Real speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        const bool valid = backend::state_is_valid(deviation, speed2) && state.temperature_is_valid(x, row);
        const double temperature =
            a.hybrid_thermal ? double(state.temperature(x, row)) : backend::Extremes::no_temperature();
        own.add(double(at), double(deviation), double(speed2), temperature, valid);
    });
    shared[threadIdx.x] = own;
    for (int half = reduction_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half) {
            shared[threadIdx.x].join(shared[threadIdx.x + half]);
        }
    }
    if (threadIdx.x == 0) {
        const backend::Extremes& all = shared[0];
        const double numbers[7] = {all.speed2,  all.fastest, all.lowest, all.highest,
                                   all.invalid, all.coldest, all.hottest};
        for (int k = 0; k < 7; ++k) {
            partial[7 * Index(blockIdx.x) + k] = numbers[k];
        }
    }
}

/// Sums three components of the force on a body, then three of the torque about the center.
template <class S, class Real, class Stored>
__global__ void body_force(const __grid_constant__ StateArguments a, const backend::BodyLink* links, Index count,
                           double center_x, double center_y, double center_z, double* partial) {
    const StateAccess<S, Real, Stored> state{a};
    const double center[3] = {center_x, center_y, center_z};
    backend::ForceAndTorque sum{};
    const Index stride = Index(gridDim.x) * blockDim.x;
    for (Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
        const backend::BodyLink& link = links[k];
        backend::add_force_of_cell<S, Real>(state.lattice().cell(link.x, link.y, link.z), link, center, sum);
    }
    double sums[6] = {sum.force[0], sum.force[1], sum.force[2], sum.torque[0], sum.torque[1], sum.torque[2]};
    sum_block(sums, partial + 6 * Index(blockIdx.x));
}

}  // namespace lbm::cuda
