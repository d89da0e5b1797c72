// Kernels for the eddy viscosity between two updates: from velocity gradients, with the strain rate, cells next to
// walls, and fields.
#pragma once

#include "../../../lattice/turbulence/all.h"
#include "../../eddy_viscosity_cells.h"
#include "dependent_launch.h"
#include "pack.h"
#include "state_access.h"

namespace lbm::cuda {

/// The velocities of V cells of a row and of their neighbours along the axes.
template <class S, class Real, class Stored, int V>
class RowVelocities {
public:
    __device__ RowVelocities(const EddyViscosityArguments& a, int x, int y, int z)
        : a_(a),
          x_(x),
          own_(static_cast<const Stored*>(a.state.data) +
               a.velocity.offset(a.state.address, a.state.phase, 0, 0, y, z)) {
        const Address& address = a.state.address;
        const Index rows = address.row_stride, layers = rows * (address.ny + 2 * address.halo_y);
        adjacent_[0] = own_ + rows * (address.self_periodic[1] && y == 0 ? address.ny - 1 : -1);
        adjacent_[1] = own_ + rows * (address.self_periodic[1] && y == address.ny - 1 ? 1 - address.ny : 1);
        adjacent_[2] = own_ + layers * (address.self_periodic[2] && z == 0 ? address.nz - 1 : -1);
        adjacent_[3] = own_ + layers * (address.self_periodic[2] && z == address.nz - 1 ? 1 - address.nz : 1);
    }

    /// Sets the derivatives of component d.
    template <int d>
    __device__ void differentiate(VelocityGradient<Real, S::D> (&gradient)[V]) const {
        const int nx = a_.state.address.nx;
        const bool closes = a_.state.address.self_periodic[0];
        const Stored* row = own_ + d * a_.velocity.stride;
        Real along[V + 2];
        unpack(row + x_, along + 1);
        along[0] = from_storage<Real>(row[closes && x_ == 0 ? nx - 1 : x_ - 1]);
        along[V + 1] = from_storage<Real>(row[closes && x_ + V >= nx ? 0 : x_ + V]);
        if (closes && x_ + V > nx) {  // the cell behind the last one is the first
            const Real first = from_storage<Real>(row[0]);
            static_for<V>([&]<int l>() { along[l + 1] = x_ + l == nx ? first : along[l + 1]; });
        }
        static_for<V>([&]<int l>() { gradient[l].of[d][0] = central_difference(along[l + 2], along[l]); });
        static_for<S::D - 1>([&]<int k>() {
            Real behind[V], ahead[V];
            unpack(adjacent_[2 * k] + d * a_.velocity.stride + x_, behind);
            unpack(adjacent_[2 * k + 1] + d * a_.velocity.stride + x_, ahead);
            static_for<V>([&]<int l>() { gradient[l].of[d][k + 1] = central_difference(ahead[l], behind[l]); });
        });
    }

private:
    __device__ static void unpack(const Stored* there, Real* numbers) {
        const Pack<Stored, V> pack = *reinterpret_cast<const Pack<Stored, V>*>(there);
        static_for<V>([&]<int l>() { numbers[l] = from_storage<Real>(pack.template get<l>()); });
    }

    const EddyViscosityArguments& a_;
    const int x_;
    const Stored* own_;
    const Stored* adjacent_[4];
};

/// Computes the Terms (GradientTerms) of all cells, as if there were fluid all around; each thread has V cells of a
/// row.
template <class S, class Real, class Stored, class Terms, int V, int members = 1>
__global__ void renew_gradient_terms(const __grid_constant__ Members<members, EddyViscosityArguments> all) {
    const EddyViscosityArguments& a = all.own();
    const Address& address = a.state.address;
    const unsigned pieces = (unsigned(address.nx) + V - 1) / V;
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = at / pieces;
    let_next_kernel_begin();
    if (row >= unsigned(address.ny) * unsigned(address.nz)) {
        return;
    }
    const int x = int(at - row * pieces) * V;
    const unsigned z = row / unsigned(address.ny);
    wait_for_kernel_before();
    const RowVelocities<S, Real, Stored, V> velocities(a, x, int(row - z * unsigned(address.ny)), int(z));
    VelocityGradient<Real, S::D> gradient[V];
    static_for<S::D>([&]<int d>() { velocities.template differentiate<d>(gradient); });
    constexpr int count = Terms::template count<S::D>;
    Pack<Real, V> packs[count];
    static_for<V>([&]<int l>() {
        Real terms[count];
        Terms::compute(gradient[l], Real(a.factor), terms);
        static_for<count>([&]<int k>() { packs[k].template set<l>(terms[k]); });
    });
    Real* out = static_cast<Real*>(a.terms) + Index(row) * (count * a.pitch) + x;
    static_for<count>([&]<int k>() { *reinterpret_cast<Pack<Real, V>*>(out + k * a.pitch) = packs[k]; });
}

/// Replaces those of cells that have walls next to them, with a thread for each.
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
    const StateAccess<S, Real, Stored> state{a.state};
    constexpr int count = Terms::template count<S::D>;
    Real terms[count];
    backend::gradient_terms_next_to_walls<Terms, S>(state.lattice(), a.velocity, cell, a.links, Real(a.factor), terms);
    Real* out =
        static_cast<Real*>(a.terms) + (Index(cell.z) * a.state.address.ny + cell.y) * (count * a.pitch) + cell.x;
    static_for<count>([&]<int k>() { out[k * a.pitch] = terms[k]; });
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
