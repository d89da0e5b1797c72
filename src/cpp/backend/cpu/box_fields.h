// Writes the density and the velocity of a box of a block's cells, row by row.
#pragma once

#include <algorithm>

#include "../../lattice/address.h"
#include "../cell_box.h"
#include "threads.h"

namespace lbm::cpu {

/// Calls body(y, z, position of the row's first cell in the box) for the rows of a box.
template <class Body>
void over_rows_of(const backend::CellBox& box, int threads, Body&& body) {
    parallel_shares(threads, Index(box.ny) * box.nz, [&](Index first, Index last) {
        for (Index r = first; r < last; ++r) {
            body(box.y + int(r % box.ny), box.z + int(r / box.ny), r * box.nx);
        }
    });
}

/// `for_fluid_row(y, z, visit)` calls visit(x, deviation of the density, velocity) for the fluid cells of a row.
template <class Real, class Out, class ForFluidRow>
void write_density_of(const backend::CellBox& box, int threads, Out* out, ForFluidRow&& for_fluid_row) {
    over_rows_of(box, threads, [&](int y, int z, Index at) {
        std::fill(out + at, out + at + box.nx, Out(1));
        for_fluid_row(y, z, [&](int x, Real deviation, const Real*) {
            if (x >= box.x && x < box.x + box.nx) {
                out[at + x - box.x] = Out(Real(1) + deviation);
            }
        });
    });
}

/// The same of the D components of the velocity; that of solid cells, of all cells of the block, may be null.
template <class Real, int D, class Out, class ForFluidRow>
void write_velocity_of(const backend::CellBox& box, const Address& a, const double* solid_velocity, int threads,
                       Out* out, ForFluidRow&& for_fluid_row) {
    over_rows_of(box, threads, [&](int y, int z, Index at) {
        for (int d = 0; d < D; ++d) {
            const Index from = ((Index(d) * a.nz + z) * a.ny + y) * a.nx + box.x;
            for (int x = 0; x < box.nx; ++x) {
                out[d * box.count() + at + x] = solid_velocity != nullptr ? Out(solid_velocity[from + x]) : Out(0);
            }
        }
        for_fluid_row(y, z, [&](int x, Real, const Real* u) {
            if (x >= box.x && x < box.x + box.nx) {
                for (int d = 0; d < D; ++d) {
                    out[d * box.count() + at + x - box.x] = Out(u[d]);
                }
            }
        });
    });
}

}  // namespace lbm::cpu
