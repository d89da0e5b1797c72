// Kernels that write fields of a range of rows to a buffer, and that set populations, forces and initial states from a
// buffer; x is fastest, then rows.
#pragma once

#include "../../initial_state.h"
#include "state_access.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, class Out>
__global__ void density(const __grid_constant__ StateArguments a, backend::CellBox box, Out* out) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, box, [&](int x, Index row, Index at) {
        Real deviation, u[3];
        state.moments(x, row, deviation, u);
        out[at] = state.solid(row * a.address.nx + x) ? Out(1) : Out(Real(1) + deviation);
    });
}

/// Writes D components, each for the whole box.
template <class S, class Real, class Stored, class Out>
__global__ void velocity(const __grid_constant__ StateArguments a, backend::CellBox box, Out* out) {
    const StateAccess<S, Real, Stored> state{a};
    const Index count = box.count();
    for_cells(a.address, box, [&](int x, Index row, Index at) {
        Real deviation, u[3];
        state.moments(x, row, deviation, u);
        const Index cell = row * a.address.nx + x;
        for (int d = 0; d < S::D; ++d) {
            Out value = Out(u[d]);
            if (state.solid(cell)) {
                value = a.solid_velocity == nullptr ? Out(0) : Out(a.solid_velocity[d * state.cells() + cell]);
            }
            out[d * count + at] = value;
        }
    });
}

/// Writes one population, the weight plus the stored deviation. For solid cells, whose stored numbers are garbage, it
/// is the weight.
template <class S, class Real, class Stored, class Out>
__global__ void population(const __grid_constant__ StateArguments a, RowRange range, int i, Out* out) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        const int z = int(row / a.address.ny);
        const Real f = state.lattice().cell(x, int(row - Index(z) * a.address.ny), z).post_collision(i);
        out[at] = Out(Real(Stencil<S>::w(i)) + (state.solid(row * a.address.nx + x) ? Real(0) : f));
    });
}

template <class S, class Real, class Stored>
__global__ void set_population(const __grid_constant__ StateArguments a, RowRange range, int i, const double* values) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        const int z = int(row / a.address.ny);
        const auto cell = state.lattice().cell(x, int(row - Index(z) * a.address.ny), z);
        cell.set_post_collision(i, Real(values[at] - Stencil<S>::w(i)));
    });
}

/// Copies one component of a force field, or of the part of a scaled one, to the rows that update kernels read.
template <class S, class Real, class Stored>
__global__ void set_force(const __grid_constant__ StateArguments a, RowRange range, int d, const double* values) {
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        const Index place = (row * S::D + d) * a.force_pitch + x;
        if (a.force_part != nullptr) {
            a.force_part[place] = values[at];
        } else {
            static_cast<Real*>(a.force_field)[place] = Real(values[at]);
        }
    });
}

/// Reads one component of that field from there.
template <class S, class Real, class Stored>
__global__ void get_force(const __grid_constant__ StateArguments a, RowRange range, int d, double* out) {
    const auto* force = static_cast<const Real*>(a.force_field);
    for_cells(a.address, range,
              [&](int x, Index row, Index at) { out[at] = double(force[(row * S::D + d) * a.force_pitch + x]); });
}

/// Copies one stored number of each cell, unconverted; for solid cells it is that of the fluid at rest.
template <class S, class Real, class Stored>
__global__ void get_stored(const __grid_constant__ StateArguments a, RowRange range, int i,
                           typename StateAccess<S, Real, Stored>::Number* out) {
    const StateAccess<S, Real, Stored> state{a};
    using Number = typename StateAccess<S, Real, Stored>::Number;
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        const Number stored = state.number(x, row, i);
        out[at] = state.solid(row * a.address.nx + x) ? Store<Number>::from(Real(0)) : stored;
    });
}

template <class S, class Real, class Stored>
__global__ void set_stored(const __grid_constant__ StateArguments a, RowRange range, int i,
                           const typename StateAccess<S, Real, Stored>::Number* values) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index at) { state.number(x, row, i) = values[at]; });
}

/// Sets the initial state. `given` has the fields of a padded box around the block, so that gradients have neighbours.
template <class S, class Real, class Stored>
__global__ void initialize(const __grid_constant__ StateArguments a,
                           const __grid_constant__ backend::InitialState<S> given, RowRange range) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index) {
        const int z = int(row / a.address.ny);
        const int y = int(row - Index(z) * a.address.ny);
        if constexpr (requires { state.stored_temperature(x, row); }) {
            if (a.hybrid_thermal) {
                state.stored_temperature(x, row) = Store<Stored>::from(Real(given.temperature(x, y, z)));
            }
        }
        double force[3] = {};
        state.force(x, row, force);
        double h[S::Q];
        given.populations(x, y, z, force, h);
        state.put(x, row, h);
    });
}

}  // namespace lbm::cuda
