// Sets the values of walls, inlets and outlets that change in time, before each update: a thread for each wall link and
// for each boundary cell. The step is counted on the device, so that recorded updates need no argument for it.
#pragma once

#include "../../../lattice/storage.h"
#include "../../scaled_values.h"
#include "arguments.h"

namespace lbm::cuda {

template <class S, class Real, class Stored, int members = 1>
__global__ void scale_values(const __grid_constant__ Members<members, ScalingArguments> all) {
    const ScalingArguments& a = all.own();
    const Index row = a.clock->row;
    const Index last = a.clock->rows - 1;
    const double* factors = a.factors + (row < last ? row : last) * a.series;
    const Index thread = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    if (thread < a.link_count) {
        const backend::ScaledLink scaled = a.scaled_links[thread];
        backend::scale_link<S>(scaled, factors, a.links[scaled.link]);
    } else if (thread - a.link_count < a.cell_count) {
        const backend::ScaledCell scaled = a.scaled_cells[thread - a.link_count];
        backend::scale_cell(scaled, factors, a.cells[scaled.cell]);
    }
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&a.clock->done, 1U) + 1 == gridDim.x) {  // all blocks have read the row
        a.clock->done = 0;
        a.clock->row = row + 1;
    }
}

}  // namespace lbm::cuda
