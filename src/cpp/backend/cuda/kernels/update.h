// The update of all cells of a block, one thread for V of them.
#pragma once

#include "../../../lattice/cell_update.h"
#include "../../../lattice/collisions/bgk.h"
#include "../../../lattice/collisions/mrt.h"
#include "../../../lattice/collisions/regularized.h"
#include "../../../lattice/collisions/trt.h"
#include "row_cells.h"

namespace lbm::cuda {

/// blockIdx.x counts groups of blockDim.y rows, blockIdx.y pieces of a row.
template <class S, class Collision, class Real, class Stored, class Parameters, int V, Phase phase, Forcing forcing,
          int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks) update(const __grid_constant__ UpdateArguments<Real, Parameters> a) {
    const Index row = Index(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= Index(a.address.ny) * a.address.nz) {
        return;
    }
    const int x = int(blockIdx.y * blockDim.x + threadIdx.x) * V;
    const int z = int(row / a.address.ny);
    const int y = int(row - Index(z) * a.address.ny);
    RowCells<S, Real, Stored, V, phase, forcing, UpdateArguments<Real, Parameters>> cells(a, x, y, z);
    cells.fetch();
    static_for<V>([&]<int l>() {
        typename decltype(cells)::template Lane<l> lane{cells};
        update_cell<S, Collision>(lane, a.parameters);
    });
    cells.put();
}

}  // namespace lbm::cuda
