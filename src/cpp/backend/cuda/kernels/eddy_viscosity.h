// Kernels for the eddy viscosity between two updates: from velocity gradients, with the strain rate, where the update
// does not compute these itself, and fields.
#pragma once

#include "../../../lattice/turbulence/all.h"
#include "../../eddy_viscosity_cells.h"
#include "dependent_launch.h"
#include "state_access.h"

namespace lbm::cuda {

/// Computes the Terms (GradientTerms) of a cell in the next step, from the velocities that the last one has kept.
template <class S, class Real, class Stored, class Terms>
__device__ void renew_terms(const EddyViscosityArguments& a, const backend::VelocityCell& cell) {
    const StateAccess<S, Real, Stored> state{a.state};
    constexpr int count = Terms::template count<S::D>;
    Real terms[count];
    backend::gradient_terms_of_cell<Terms, S>(state.lattice(), a.velocity, cell, a.links, Real(a.factor), terms);
    Real* out =
        static_cast<Real*>(a.terms) + (Index(cell.z) * a.state.address.ny + cell.y) * (count * a.pitch) + cell.x;
    static_for<count>([&]<int k>() { out[k * a.pitch] = terms[k]; });
}

/// Renews the terms of cells that have walls next to them, with a thread for each.
template <class S, class Real, class Stored, class Terms, int members = 1>
__global__ void renew_next_to_walls(const __grid_constant__ Members<members, EddyViscosityArguments> all) {
    const EddyViscosityArguments& a = all.own();
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k >= a.count) {
        return;
    }
    const backend::VelocityCell cell = a.cells[k];
    wait_for_kernel_before();
    renew_terms<S, Real, Stored, Terms>(a, cell);
}

/// Renews those of all cells as if there were fluid all around, with a thread for each, where no update does so: for
/// fields, and in steps whose number is not one that renews them.
template <class S, class Real, class Stored, class Terms, int members = 1>
__global__ void renew_all(const __grid_constant__ Members<members, EddyViscosityArguments> all) {
    const EddyViscosityArguments& a = all.own();
    const Address& address = a.state.address;
    let_next_kernel_begin();
    wait_for_kernel_before();
    for_cells(address, RowRange{0, Index(address.ny) * address.nz}, [&](int x, Index row, Index) {
        const int z = int(row / address.ny);
        renew_terms<S, Real, Stored, Terms>(a, {x, int(row - Index(z) * address.ny), z, 0, 0});
    });
}

/// Computes the velocities that are kept, from a state that was set.
template <class S, class Real, class Stored>
__global__ void start_velocity(const __grid_constant__ StateArguments a, RowRange range, VelocityRows rows) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index) {
        const int z = int(row / a.address.ny), y = int(row - Index(z) * a.address.ny);
        Real deviation, u[3];
        state.moments(x, row, deviation, u);
        for (int d = 0; d < S::D; ++d) {
            static_cast<Stored*>(a.data)[rows.offset(a.address, a.phase, d, x, y, z)] =
                Store<Stored>::from(state.solid(row * a.address.nx + x) ? Real(0) : u[d]);
        }
    });
}

/// Writes the velocities that are kept, component by component; 0 for solid cells.
template <class S, class Real, class Stored, class Out>
__global__ void kept_velocity(const __grid_constant__ StateArguments a, RowRange range, Out* out, VelocityRows rows) {
    const StateAccess<S, Real, Stored> state{a};
    const Index count = (range.last - range.first) * a.address.nx;
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        const int z = int(row / a.address.ny), y = int(row - Index(z) * a.address.ny);
        for (int d = 0; d < S::D; ++d) {
            const Stored kept = static_cast<const Stored*>(a.data)[rows.offset(a.address, a.phase, d, x, y, z)];
            out[d * count + at] = state.solid(row * a.address.nx + x) ? Out(0) : Out(from_storage<Real>(kept));
        }
    });
}

template <class S, class Real, class Stored>
__global__ void set_kept_velocity(const __grid_constant__ StateArguments a, RowRange range, int d, const double* values,
                                  VelocityRows rows) {
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        const int z = int(row / a.address.ny), y = int(row - Index(z) * a.address.ny);
        static_cast<Stored*>(a.data)[rows.offset(a.address, a.phase, d, x, y, z)] =
            Store<Stored>::from(Real(values[at]));
    });
}

/// Writes the eddy viscosity of velocity gradients; 0 for solid cells. `stride` is from a row of it to the next.
template <class S, class Real, class Stored, class Out>
__global__ void eddy_viscosity(const __grid_constant__ StateArguments a, RowRange range, Out* out,
                               const void* viscosity, Index stride) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        out[at] =
            state.solid(row * a.address.nx + x) ? Out(0) : Out(static_cast<const Real*>(viscosity)[row * stride + x]);
    });
}

template <class S, class Real, class Stored>
__global__ void set_eddy_viscosity(const __grid_constant__ StateArguments a, RowRange range, int, const double* values,
                                   void* viscosity, Index stride) {
    for_cells(a.address, range,
              [&](int x, Index row, Index at) { static_cast<Real*>(viscosity)[row * stride + x] = Real(values[at]); });
}

/// Writes the eddy viscosity of the Smagorinsky model; 0 for solid cells.
template <class S, class Real, class Stored, class Out>
__global__ void smagorinsky_viscosity(const __grid_constant__ StateArguments a, RowRange range, Out* out, double omega,
                                      double factor) {
    const StateAccess<S, Real, Stored> state{a};
    const auto heat = converted<Real>(a.heat);
    for_cells(a.address, range, [&](int x, Index row, Index at) {
        const int z = int(row / a.address.ny), y = int(row - Index(z) * a.address.ny);
        double force[3] = {};
        state.force(x, row, force);
        const auto cell = state.lattice().cell(x, y, z);
        Real viscosity = 0;
        if (a.hybrid_thermal) {
            const EnergyCoupling<S, Real> coupling{state.temperature(x, row), heat};
            viscosity = backend::smagorinsky_eddy_viscosity(cell, force, coupling, Real(omega), Real(factor));
        } else {
            viscosity = backend::smagorinsky_eddy_viscosity(cell, force, NoCoupling{}, Real(omega), Real(factor));
        }
        out[at] = state.solid(row * a.address.nx + x) ? Out(0) : Out(viscosity);
    });
}

}  // namespace lbm::cuda
