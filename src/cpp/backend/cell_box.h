// A box of a block's cells, of which a field is read.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

/// The cells from (x, y, z) on, so many along each axis.
struct CellBox {
    int x, y, z;
    int nx, ny, nz;

    LBM_HD Index count() const { return Index(nx) * ny * nz; }
};

}  // namespace lbm::backend
