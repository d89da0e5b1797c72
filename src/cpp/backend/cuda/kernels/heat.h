// Kernels for temperatures between two updates: cells next to bodies, fields, sums.
#pragma once

#include "../../wall_heat.h"
#include "dependent_launch.h"
#include "reductions.h"
#include "state_access.h"

namespace lbm::cuda {

/// Computes the temperatures after the next step of the cells next to bodies, with a thread for each, and stores them
/// in `values`.
template <class S, class Real, class Stored, int members = 1>
__global__ void advance_next_to_bodies(const __grid_constant__ Members<members, NextToBodiesArguments> all) {
    const auto& [a, cells, count, links, terms, values] = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k >= count) {
        return;
    }
    const backend::ThermalCell cell = cells[k];
    wait_for_kernel_before();
    const StateAccess<S, Real, Stored> state{a};
    const Index row = Index(cell.z) * a.address.ny + cell.y;
    double given[3] = {};
    state.given_force(cell.x, row, given);
    const Real force[3] = {Real(given[0]), Real(given[1]), Real(given[2])};
    const auto heat = converted<Real>(a.heat);
    const Real source =
        a.heat_field == nullptr ? heat.source : static_cast<const Real*>(a.heat_field)[row * a.force_pitch + cell.x];
    static_cast<Real*>(values)[k] =
        backend::advanced_next_to_body(state.lattice(), cell, links, terms, force, source, heat);
}

/// Copies these temperatures to the lattice, after the update of their rows.
template <class S, class Real, class Stored, int members = 1>
__global__ void put_next_to_bodies(const __grid_constant__ Members<members, NextToBodiesArguments> all) {
    const auto& [a, cells, count, links, terms, values] = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    wait_for_kernel_before();
    if (k < count) {
        const Index row = Index(cells[k].z) * a.address.ny + cells[k].y;
        const Real value = static_cast<const Real*>(values)[k];
        StateAccess<S, Real, Stored>{a}.stored_temperature(cells[k].x, row) = Store<Stored>::from(value);
    }
}

/// Writes the stored temperature plus `reference`, rounded once; 0 for solid cells.
template <class S, class Real, class Stored, class Out>
__global__ void temperature(const __grid_constant__ StateArguments a, RowRange range, Out* out, double reference) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        out[at] = state.solid(row * a.address.nx + x) ? Out(0) : Out(double(state.temperature(x, row)) + reference);
    });
}

/// Sets the temperature; the unused argument is the component, as in the other kernels that set fields.
template <class S, class Real, class Stored>
__global__ void set_temperature(const __grid_constant__ StateArguments a, RowRange range, int, const double* values) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        state.stored_temperature(x, row) = Store<Stored>::from(Real(values[at]));
    });
}

template <class S, class Real, class Stored>
__global__ void reset_temperature(const __grid_constant__ StateArguments a, RowRange range) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range,
              [&](int x, Index row, Index) { state.stored_temperature(x, row) = Store<Stored>::from(Real(0)); });
}

/// Copies the field of heat sources to the rows that update kernels read.
template <class S, class Real, class Stored>
__global__ void set_heat_source(const __grid_constant__ StateArguments a, RowRange range, int, const double* values) {
    auto* source = static_cast<Real*>(a.heat_field);
    for_cells(a.address, range,
              [&](int x, Index row, Index at) { source[row * a.force_pitch + x] = Real(values[at]); });
}

/// Reads that field from there.
template <class S, class Real, class Stored>
__global__ void get_heat_source(const __grid_constant__ StateArguments a, RowRange range, int, double* out) {
    const auto* source = static_cast<const Real*>(a.heat_field);
    for_cells(a.address, range, [&](int x, Index row, Index at) { out[at] = double(source[row * a.force_pitch + x]); });
}

/// Sums the temperature over the fluid cells; in the multispeed thermal model the internal energy rho T.
template <class S, class Real, class Stored>
__global__ void total_heat(const __grid_constant__ StateArguments a, RowRange range, double* partial) {
    const StateAccess<S, Real, Stored> state{a};
    double sums[1] = {};
    for_cells(a.address, range, [&](int x, Index row, Index) {
        if constexpr (Stencil<S>::multispeed) {
            const Gas<Real> gas = state.gas(x, row);
            sums[0] += (1 + double(gas.deviation)) * double(backend::temperature_of<S>(gas));
        } else if (!state.solid(row * a.address.nx + x)) {
            sums[0] += double(state.temperature(x, row));
        }
    });
    sum_block(sums, partial + Index(blockIdx.x));
}

/// Sums heat samples; stores each of them too if `each` is not null.
template <class S, class Real, class Stored>
__global__ void sampled_heat(const __grid_constant__ StateArguments a, const backend::HeatSample* samples, Index count,
                             double* each, double* partial) {
    const backend::TemperatureView<Real, Stored> view(static_cast<Stored*>(a.data), a.address, a.phase);
    double sums[1] = {};
    const Index stride = Index(gridDim.x) * blockDim.x;
    for (Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
        const double heat = backend::sampled_heat(view, samples[k]);
        sums[0] += heat;
        if (each != nullptr) {
            each[k] = heat;
        }
    }
    sum_block(sums, partial + Index(blockIdx.x));
}

/// Computes the heat of wall columns of the multispeed thermal model, with a thread for each.
template <class S, class Real, class Stored>
__global__ void column_heat(const __grid_constant__ StateArguments a, const backend::WallColumn* columns, Index count,
                            double tau_q_minus_half, backend::ColumnHeat* out) {
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k < count) {
        const backend::LatticeView<S, Real, Stored> lattice{static_cast<Stored*>(a.data), a.address, a.phase};
        out[k] = backend::column_heat(lattice, columns[k], a.force, tau_q_minus_half);
    }
}

/// Computes the largest |T - last| of each thread block, and sets last = T.
template <class S, class Real, class Stored>
__global__ void temperature_change(const __grid_constant__ StateArguments a, RowRange range, Real* last,
                                   double* partial) {
    const StateAccess<S, Real, Stored> state{a};
    double largest = 0;
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        if (!state.solid(row * a.address.nx + x)) {
            const Real now = state.temperature(x, row);
            const double change = double(now) - double(last[at]);
            largest = largest > change ? largest : change;
            largest = largest > -change ? largest : -change;
            last[at] = now;
        }
    });
    __shared__ double shared[reduction_threads];
    shared[threadIdx.x] = largest;
    for (int half = reduction_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half) {
            const double other = shared[threadIdx.x + half];
            shared[threadIdx.x] = shared[threadIdx.x] > other ? shared[threadIdx.x] : other;
        }
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = shared[0];
    }
}

}  // namespace lbm::cuda
