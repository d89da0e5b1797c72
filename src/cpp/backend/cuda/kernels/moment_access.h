// Access to the state between steps of a block whose state is moments, in place of StateAccess for populations.
#pragma once

#include "../../../lattice/collisions/all.h"
#include "../../../lattice/moment_state.h"
#include "state_access.h"

namespace lbm::cuda {

/// Stands for the type of stored populations where a cell keeps moments that a collision makes.
template <class Collision>
struct AsMoments {};

template <class S, class Real, class Collision>
struct StateAccess<S, Real, AsMoments<Collision>> {
    using Number = Real;
    const StateArguments& a;

    /// A cell with its post-collision populations, as they follow from its moments.
    struct Cell {
        const StateAccess& state;
        Real h[S::Q];

        __device__ Real post_collision(int i) const { return h[i]; }
        /// What streams in against the population of a link.
        __device__ Real streamed(const backend::BodyLink& link) const {
            int at[3];
            link.streamed_cell(state.a.address, at);
            Real other[S::Q];
            state.rebuild(at[0], at[1], at[2], other);
            return other[link.streamed_i];
        }
    };
    struct Lattice {
        const StateAccess& state;

        __device__ Cell cell(int x, int y, int z) const {
            Cell cell{state, {}};
            state.rebuild(x, y, z, cell.h);
            return cell;
        }
    };
    /// The post-collision populations of a cell, which may lie in the halo.
    __device__ void rebuild(int x, int y, int z, Real (&h)[S::Q]) const {
        StoredMoments<S, Real> m;
        m.for_each([&]<int k>(Real& to) {
            to = static_cast<const Real*>(
                a.data)[a.address.row(y, z, 0) + moment_place(k, x, a.address.population_stride)];
        });
        double made_with[3];
        force_in_step(0, x, y, z, made_with);
        CellForce<S, Real> force{{}, a.moment_force.is_any};
        static_for<S::D>([&]<int d>() { force.of[d] = Real(made_with[d]); });
        populations_of<S, Collision>(m, force, Real(a.compressibility), h);
    }

    __device__ Lattice lattice() const { return {*this}; }
    __device__ Index rows() const { return Index(a.address.ny) * a.address.nz; }
    __device__ Index cells() const { return rows() * a.address.nx; }
    __device__ bool solid(Index cell) const { return a.solid != nullptr && a.solid[cell] != 0; }
    __device__ Real temperature(int /*x*/, Index /*row*/) const { return Real(0); }
    __device__ bool temperature_is_valid(int /*x*/, Index /*row*/) const { return true; }
    __device__ void force(int x, Index row, double (&force)[3]) const {
        const int z = int(row / a.address.ny);
        force_in_step(1, x, int(row - Index(z) * a.address.ny), z, force);
    }
    /// The force on a cell with which the state was made, for step 0, or in the next step, for 1.
    __device__ void force_in_step(int step, int x, int y, int z, double (&force)[3]) const {
        const backend::MomentForce<double>& given = a.moment_force;
        static_for<S::D>([&]<int d>() {
            const Index at = given.rows.row(y, z) + d * given.rows.pitch + x;
            if (given.part != nullptr) {
                force[d] = double(Real(given.part[at] * given.factor[step]));
            } else if (given.field != nullptr) {
                force[d] = double(static_cast<const Real*>(given.field)[at]);
            } else {
                force[d] = given.uniform[step][d];
            }
        });
    }

    /// Number k of a cell.
    __device__ Number& number(int x, Index row, int k) const {
        const int z = int(row / a.address.ny);
        const Index first = a.address.row(int(row - Index(z) * a.address.ny), z, 0);
        return static_cast<Real*>(a.data)[first + moment_place(k, x, a.address.population_stride)];
    }
    /// Sets a cell to the moments of populations in double precision.
    __device__ void put(int x, Index row, const double (&h)[S::Q]) const {
        StoredMoments<S, double> m = projected<S>(h);
        m.for_each([&]<int k>(double from) { number(x, row, k) = Real(from); });
    }

    /// The density's deviation rho - 1 and the velocity of cell x of a row.
    __device__ void moments(int x, Index row, Real& deviation, Real (&u)[3]) const {
        Real momentum[3] = {};
        double force_now[3] = {};
        force(x, row, force_now);
        deviation = number(x, row, 0);
        static_for<S::D>([&]<int d>() { momentum[d] = number(x, row, 1 + d); });
        backend::velocity_of(inertia_of_deviation(deviation, Real(a.compressibility)), momentum, force_now, u);
    }
};

/// Sets one number of the cells of some rows.
template <class S, class Real, class Stored>
__global__ void set_moment(const __grid_constant__ StateArguments a, RowRange range, int k, const double* values) {
    const StateAccess<S, Real, Stored> state{a};
    for_cells(a.address, range, [&](int x, Index row, Index at) { state.number(x, row, k) = Real(values[at]); });
}

/// Copies numbers within a lattice: a warp for each run, then a thread for each single copy.
template <class S, class Real, class Stored>
__global__ void copy_numbers(const __grid_constant__ StateArguments a, const backend::CopyRun* runs, Index run_count,
                             const SingleCopy* singles, Index single_count) {
    auto* const data = static_cast<typename StateAccess<S, Real, Stored>::Number*>(a.data);
    const Index thread = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    const Index run = thread / 32, single = thread - 32 * run_count;
    if (run < run_count) {
        copy_run(runs[run], data, data, int(thread & 31));
    } else if (single < single_count) {
        data[singles[single].target] = data[singles[single].source];
    }
}

}  // namespace lbm::cuda
