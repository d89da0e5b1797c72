// The kernel that propagates populations in a layout of memory: a thread for each cell.
#pragma once

#include "../../../lattice/stencils/all.h"
#include "../../propagation.h"

namespace lbm::cuda {

/// Bytes: 2 Q numbers a cell. The box has fewer than 2^31 cells.
template <class S, class Layout, class T>
__global__ void propagate(const T* from, T* to, const backend::PropagationBox box) {
    const unsigned cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < box.cells()) {
        const unsigned row = cell / unsigned(box.nx);
        backend::propagate_cell<S, Layout>(from, to, box, int(cell % unsigned(box.nx)), int(row % unsigned(box.ny)),
                                           int(row / unsigned(box.ny)));
    }
}

}  // namespace lbm::cuda
