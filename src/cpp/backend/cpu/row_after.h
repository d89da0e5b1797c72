// The rows of a block in the order in which they are gone through.
#pragma once

#include "../../lattice/address.h"

namespace lbm::cpu {

/// Offset of population 0 of the row that comes so many rows after row (y, z). After the last row it may be that of no
/// row, so it serves to ask for memory ahead.
LBM_HD Index row_after(const Address& address, int y, int z, int rows) {
    for (int k = 0; k < rows; ++k) {
        y = y + 1 < address.ny ? y + 1 : 0;
        z += y == 0;
    }
    return address.row(y, z, 0);
}

}  // namespace lbm::cpu
