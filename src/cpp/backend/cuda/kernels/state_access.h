// Scalar access to a block's state between steps: moments, temperature and force of a cell.
#pragma once

#include "../../multispeed_cells.h"
#include "../../wall_links.h"
#include "arguments.h"

namespace lbm::cuda {

/// Cells are given by their x and row = z ny + y.
template <class S, class Real, class Stored>
struct StateAccess {
    using Number = Stored;
    const StateArguments& a;

    __device__ backend::LatticeView<S, Real, Stored> lattice() const {
        return {static_cast<Stored*>(a.data), a.address, a.phase, Real(a.compressibility)};
    }
    __device__ Index rows() const { return Index(a.address.ny) * a.address.nz; }
    __device__ Index cells() const { return rows() * a.address.nx; }
    __device__ Stored& stored_temperature(int x, Index row) const {
        const int z = int(row / a.address.ny);
        const Index place = temperature_offset(a.address, a.phase, x, int(row - Index(z) * a.address.ny), z);
        return static_cast<Stored*>(a.data)[place];
    }
    __device__ Real temperature(int x, Index row) const {
        if constexpr (Stencil<S>::multispeed) {
            return backend::temperature_of<S>(gas(x, row));
        } else {
            return from_storage<Real>(stored_temperature(x, row));
        }
    }
    /// Whether the temperature of a cell is valid; true for the isothermal model.
    __device__ bool temperature_is_valid(int x, Index row) const {
        if constexpr (Stencil<S>::multispeed) {
            return backend::temperature_is_valid(temperature(x, row));
        } else {
            const Real t = a.hybrid_thermal ? temperature(x, row) : Real(0);
            return t - t == Real(0);  // finite
        }
    }
    __device__ Gas<Real> gas(int x, Index row) const {
        const int z = int(row / a.address.ny);
        return backend::gas_between_steps(lattice().cell(x, int(row - Index(z) * a.address.ny), z), a.force);
    }
    __device__ bool solid(Index cell) const { return a.solid != nullptr && a.solid[cell] != 0; }

    /// The whole force on a cell, with buoyancy; given_force() is the user's force only.
    __device__ void force(int x, Index row, double (&force)[3]) const {
        given_force(x, row, force);
        if (a.hybrid_thermal) {
            add_buoyancy<S>(force, double(temperature(x, row)), a.heat);
        }
    }
    __device__ void given_force(int x, Index row, double (&force)[3]) const {
        for (int d = 0; d < S::D; ++d) {
            const Index at = (row * S::D + d) * a.force_pitch + x;
            if (a.force_part != nullptr) {
                force[d] = double(Real(a.force_part[at] * *a.force_factor));
            } else if (a.force_field != nullptr) {
                force[d] = double(static_cast<const Real*>(a.force_field)[at]);
            } else {
                force[d] = a.force_factor == nullptr ? a.force[d] : a.force[d] * *a.force_factor;
            }
        }
    }

    /// Number k of a cell: its post-collision population k.
    __device__ Number& number(int x, Index row, int k) const {
        const int z = int(row / a.address.ny);
        const int y = int(row - Index(z) * a.address.ny);
        return static_cast<Stored*>(a.data)[post_collision_offset<S>(a.address, a.phase, x, y, z, k)];
    }
    /// Sets the post-collision populations of a cell.
    __device__ void put(int x, Index row, const double (&h)[S::Q]) const {
        static_for<S::Q>([&]<int i>() { number(x, row, i) = Store<Stored>::from(Real(h[i])); });
    }

    /// The density's deviation rho - 1 and the velocity of cell x of a row.
    __device__ void moments(int x, Index row, Real& deviation, Real (&u)[3]) const {
        if constexpr (Stencil<S>::multispeed) {
            const Gas<Real> g = gas(x, row);
            deviation = g.deviation;
            u[0] = g.u[0];
            u[1] = g.u[1];
            u[2] = 0;
            return;
        }
        double f[3] = {};
        force(x, row, f);
        const int z = int(row / a.address.ny);
        backend::moments_after_collision(lattice().cell(x, int(row - Index(z) * a.address.ny), z), f, deviation, u);
    }
};

/// Calls visit(x, row, position in the range) for every cell of a range of rows.
template <class Visit>
__device__ void for_cells(const Address& address, RowRange range, Visit&& visit) {
    const Index count = (range.last - range.first) * address.nx;
    const Index stride = Index(gridDim.x) * blockDim.x;
    for (Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
        const Index row = at / address.nx;
        visit(int(at - row * address.nx), range.first + row, at);
    }
}

/// Calls visit(x, row, position in the box) for every cell of a box.
template <class Visit>
__device__ void for_cells(const Address& address, const backend::CellBox& box, Visit&& visit) {
    const Index count = box.count();
    const Index stride = Index(gridDim.x) * blockDim.x;
    for (Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
        const Index row = at / box.nx, layer = row / box.ny;
        const Index y = box.y + (row - layer * box.ny), z = box.z + layer;
        visit(box.x + int(at - row * box.nx), z * address.ny + y, at);
    }
}

}  // namespace lbm::cuda
