// Sets a lattice to the fluid at rest, with the first touch of every page by the thread that will update it.
#pragma once

#include <cstring>

#include "../../lattice/address.h"
#include "threads.h"

namespace lbm::cpu {

template <class Stored>
void clear_lattice(const Address& a, Stored* data, int threads) {
    const Index slab = a.row_stride * (a.ny + 2 * a.halo_y);
    parallel_shares(threads, Index(a.ny) * a.nz, [&](Index first, Index last) {
        for (Index row = first; row < last; ++row) {
            Stored* start = data + a.row(int(row % a.ny), int(row / a.ny), 0);
            std::memset(static_cast<void*>(start), 0, std::size_t(a.row_stride) * sizeof(Stored));
        }
    });
    for (int z = -a.halo_z; z < a.nz + a.halo_z; ++z) {
        const bool halo = z < 0 || z >= a.nz;
        const Index start = a.row(-a.halo_y, z, 0);
        const Index skip_to = halo ? start + slab : a.row(0, z, 0);
        std::memset(static_cast<void*>(data + start), 0, std::size_t(skip_to - start) * sizeof(Stored));
        if (!halo) {
            const Index behind = a.row(a.ny, z, 0);
            std::memset(static_cast<void*>(data + behind), 0, std::size_t(start + slab - behind) * sizeof(Stored));
        }
    }
}

}  // namespace lbm::cpu
