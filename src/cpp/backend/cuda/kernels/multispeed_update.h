// Kernels of the multispeed thermal model: the update, with a thread for each cell, and the halo behind walls.
#pragma once

#include "../../../lattice/multispeed.h"
#include "../../multispeed_cells.h"
#include "../../row_box.h"
#include "arguments.h"
#include "dependent_launch.h"

namespace lbm::cuda {

/// The access of a thread to its cell. Incoming populations are read from the neighbours, along a self-periodic axis
/// (bits of `self_periodic`: 1 for x, 2 for y) around its end, otherwise from the halo.
template <class S, class Real, int self_periodic>
struct MultispeedCell {
    using Value = Real;

    const Real* source;  // population 0 of x = 0 in the cell's row
    Real* target;
    const Address& address;
    int x, y;
    bool inside;

    __device__ void load(Real (&h)[S::Q]) const {
        static_for<2 * S::radius + 1>([&]<int m>() { load_from_row<m - S::radius>(h); });
    }
    __device__ void store(const Real (&h)[S::Q]) const {
        if (inside) {
            static_for<S::Q>([&]<int i>() { target[i * address.population_stride + x] = h[i]; });
        }
    }

private:
    /// Reads all incoming populations with the velocity component cy.
    template <int cy>
    __device__ void load_from_row(Real (&h)[S::Q]) const {
        int rows = -cy;
        if constexpr ((self_periodic & 2) != 0) {
            rows = Address::wrapped(y - cy, address.ny) - y;
        }
        const Real* row = source + rows * address.row_stride;
        static_for<S::Q>([&]<int i>() {
            if constexpr (S::c[i][1] == cy) {
                int from = x - S::c[i][0];
                if constexpr ((self_periodic & 1) != 0) {
                    from = Address::wrapped(from, address.nx);
                }
                h[i] = row[i * address.population_stride + from];
            }
        });
    }
};

/// Updates rows; blockIdx.x counts the pieces of a row, then groups of blockDim.y rows, blockIdx.y the members.
template <class S, class Real, int self_periodic, RelaxationTimes times, int threads, int blocks, int members = 1>
__global__ void __launch_bounds__(threads, blocks)
    multispeed_update(const __grid_constant__ Members<members, MultispeedArguments<Real>> all) {
    const MultispeedArguments<Real>& a = all.own();
    const int pieces = (a.address.nx + int(blockDim.x) - 1) / int(blockDim.x);
    const int group = int(blockIdx.x) / pieces;
    const int row = group * int(blockDim.y) + int(threadIdx.y);
    const int x = (int(blockIdx.x) - group * pieces) * int(blockDim.x) + int(threadIdx.x);
    const bool inside = row < a.rows.ny && x < a.address.nx;
    const int y = a.rows.y + (row < a.rows.ny ? row : 0) * a.rows.step_y;
    const Index offset = a.address.lead + Index(y + a.address.halo_y) * a.address.row_stride;
    const MultispeedCell<S, Real, self_periodic> cell{static_cast<const Real*>(a.source) + offset,
                                                      static_cast<Real*>(a.target) + offset,
                                                      a.address,
                                                      inside ? x : a.address.nx - 1,
                                                      y,
                                                      inside};
    let_next_kernel_begin();
    wait_for_kernel_before();
    update_multispeed_cell<S, times>(cell, a.parameters);
}

/// Updates a part of each row, with consecutive threads for the cells of a row.
template <class S, class Real, int self_periodic, RelaxationTimes times, int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    multispeed_update_part(const __grid_constant__ MultispeedPartArguments<Real> part) {
    const MultispeedArguments<Real>& a = part.rows;
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = int(thread / unsigned(part.row_threads));
    const int k = int(thread) - row * part.row_threads;
    const bool inside = row < a.rows.ny && k < part.count;
    const int x = k < part.below ? k : k + part.skipped;
    const int y = a.rows.y + (row < a.rows.ny ? row : 0);
    const Index offset = a.address.lead + Index(y + a.address.halo_y) * a.address.row_stride;
    const MultispeedCell<S, Real, self_periodic> cell{static_cast<const Real*>(a.source) + offset,
                                                      static_cast<Real*>(a.target) + offset,
                                                      a.address,
                                                      inside ? x : a.address.nx - 1,
                                                      y,
                                                      inside};
    let_next_kernel_begin();
    wait_for_kernel_before();
    update_multispeed_cell<S, times>(cell, a.parameters);
}

/// Computes the halo behind walls, with a thread for each halo cell of a column, and one for each corner. The threads
/// of a column share the gas of its cells; its missing mass and energy are summed in the order of its cells, for the
/// same bits as on the CPU. One thread block on a multiprocessor is enough, as corners take many registers.
template <class S, class Real, int members = 1>
__global__ void __launch_bounds__(columns_a_block* wall_depth, 1)
    fill_wall_columns(const __grid_constant__ Members<members, WallColumnArguments<Real>> all) {
    const auto& [a, columns, count, corners, corner_count, parameters] = all.own();
    const backend::LatticeView<S, Real, Real> lattice{static_cast<Real*>(a.data), a.address, a.phase};
    const Index corner_block = Index(blockIdx.x) - column_blocks(count);
    if (corner_block >= 0) {
        const Index at = corner_block * columns_a_block + threadIdx.x;
        let_next_kernel_begin();
        wait_for_kernel_before();
        if (threadIdx.y == 0 && at < corner_count) {
            backend::fill_wall_corner(lattice, corners[at], columns, parameters);
        }
        return;
    }
    __shared__ MassAndEnergy<Real> shared[wall_depth][columns_a_block];
    __shared__ Gas<Real> gases[wall_depth][columns_a_block];
    const Index at = Index(blockIdx.x) * columns_a_block + threadIdx.x;
    const int k = int(threadIdx.y) + 1;
    const bool inside = at < count;
    backend::WallColumn column{};
    if (inside) {
        column = columns[at];
    }
    let_next_kernel_begin();
    wait_for_kernel_before();
    Real h[S::Q], out[S::Q];
    if (inside) {
        backend::read_mirror(lattice, column, k, h);
        gases[k - 1][threadIdx.x] = gas_of<S>(multispeed_sums<S, 1>(h));
    }
    __syncthreads();
    if (inside) {
        Gas<Real> gas[wall_depth];
        for (int m = 0; m < wall_depth; ++m) {
            gas[m] = gases[m][threadIdx.x];
        }
        const WallProfile<Real> profile = profile_of<S>(column.wall, gas, parameters.gravity);
        shared[k - 1][threadIdx.x] = halo_populations<S>(column.wall, k, profile, h, parameters, out);
    }
    __syncthreads();
    if (inside) {
        MassAndEnergy<Real> missing{0, 0};
        for (int m = 0; m < wall_depth; ++m) {
            missing.mass += shared[m][threadIdx.x].mass;
            missing.energy += shared[m][threadIdx.x].energy;
        }
        backend::put_halo_cell(lattice, column, k, missing, out);
    }
}

}  // namespace lbm::cuda
