// The arguments of the kernels of blocks whose state is moments.
#pragma once

#include "../../../lattice/address.h"
#include "../../link_data.h"
#include "../../moment_force.h"
#include "../../row_box.h"

namespace lbm::cuda {

constexpr int wall_chunk = 64;  // cells of a row that share an entry of MomentWallRows::chunk

/// A cell with walls next to it, or a solid one, which has no links.
struct MomentWallCell {
    // Bits of `links` above those of populations: what formulas read; whether all are of moving walls, to which what
    // leaves comes back with a value more; and whether these are at rest, so that it comes back as it left.
    static constexpr UInt32 solid = 1U << 31, needs_moments = 1U << 30, rests = 1U << 29, reflects = 1U << 28;
    // Whether some wall is at a known distance or between fluid cells (moment_cut_walls.h).
    static constexpr UInt32 is_cut = 1U << 27;

    LBM_HD static bool has_links(UInt32 links, int Q) { return (links & ((1U << Q) - 1)) != 0; }

    UInt32 links;  // bit i: a formula gives population i; and the bits above
    UInt32 first;  // the first of these formulas in the list of links
};

/// The walls of a block, by chunks of rows: most of them have none, and the others have an entry for each cell.
/// Cells up to `around` beside the block are included, but along axes along which it is its own neighbour.
struct MomentWallRows {
    const int* chunk;  // of each chunk of each row, the number of its cells' entries; -1: it has no walls
    const MomentWallCell* cells;
    const backend::WallLink* links;
    const boundary::LinearWeights* weights;  // of each link; null where all walls are half-way to solid cells
    int around;
    int chunks;              // of a row
    int cells_to_wall[6];    // behind each face of the block, 2 axis + side, before a wall; many where there is none
    int cells_to_mirror[6];  // the same before a face with free slip
    double force[3];         // for the velocity that formulas read, where it is the same everywhere and always
    // Of links whose values change in time: the plan's, and the factors of the first step, with `series` from those of
    // a step to those of the next one.
    const backend::ScaledVector* scaled_values;
    const double* factors;
    int series;
    double reference_density, wall_inertia;

    LBM_HD Index row(const Address& a, int x, int y, int z) const {
        const int around_z = a.halo_z == 0 ? 0 : around;
        return (Index(z + around_z) * (a.ny + 2 * around) + y + around) * chunks + (x + wall_chunk) / wall_chunk;
    }
    LBM_HD static int place(int x) { return (x + wall_chunk) % wall_chunk; }
};

/// What a thread block, or in two dimensions a warp, sweeps: a tile of `layers` layers along the last axis.
struct MomentUnit {
    int x, y;   // of the tile's first cell
    int end_y;  // of the rows that it stores
    int first, layers;
};

/// The arguments of an update of a block.
template <class Real, class Parameters>
struct MomentUpdate {
    const Real* source;
    Real* target;
    Address address;  // whose Q is the number of moments
    const MomentUnit* units;
    int unit_count;
    Parameters parameters;  // of the collision
    Real compressibility;   // 0 with the incompressible equilibrium (lattice/inertia.h)
    MomentWallRows walls;
    Real force[3];                       // where it is the same everywhere and always
    backend::MomentForce<Real> varying;  // a force that varies from cell to cell or from step to step
};

}  // namespace lbm::cuda
