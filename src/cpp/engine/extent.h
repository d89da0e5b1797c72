// A block as plans see it: where it lies in the domain, and where its numbers lie in its memory.
#pragma once

#include "../lattice/address.h"
#include "domain.h"

namespace lbm::engine {

struct Extent {
    int offset[3];
    Address address;  // and the size

    bool holds(const int (&cell)[3]) const {
        const int size[3] = {address.nx, address.ny, address.nz};
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
            inside = inside && cell[d] >= offset[d] && cell[d] < offset[d] + size[d];
        }
        return inside;
    }
};

}  // namespace lbm::engine
