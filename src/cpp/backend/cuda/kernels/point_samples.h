// The kernel that records fields of single cells.
#pragma once

#include "../../point_samples.h"
#include "dependent_launch.h"
#include "state_access.h"

namespace lbm::cuda {

/// Writes the sample of the state of now.
template <class S, class Real, class Stored>
__global__ void point_samples(const __grid_constant__ StateArguments a, const backend::Cell* cells, Index count,
                              const __grid_constant__ backend::PointFields fields, double* sample) {
    const Index k = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    let_next_kernel_begin();
    if (k >= count) {
        return;
    }
    const backend::Cell cell = cells[k];
    wait_for_kernel_before();
    const StateAccess<S, Real, Stored> state{a};
    const Index row = Index(cell.z) * a.address.ny + cell.y;
    Real deviation, u[3];
    state.moments(cell.x, row, deviation, u);
    const Real temperature = fields.temperature ? state.temperature(cell.x, row) : Real(0);
    const bool solid = state.solid(row * a.address.nx + cell.x);
    backend::put_point<S::D>(fields, k, count, solid, deviation, u, temperature, sample);
}

}  // namespace lbm::cuda
