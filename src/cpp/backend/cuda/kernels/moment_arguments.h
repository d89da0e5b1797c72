// The arguments of the kernels of blocks whose state is moments.
#pragma once

#include "../../../lattice/address.h"
#include "../../link_data.h"
#include "../../row_box.h"

namespace lbm::cuda {

constexpr int wall_chunk = 64;  // cells of a row that share an entry of MomentWallRows::chunk

/// A cell with walls next to it, or a solid one, which has no links.
struct MomentWallCell {
    // Bits of `links` above those of populations: what formulas read, and whether all walls are at rest, so that
    // populations come back as they left.
    static constexpr UInt32 solid = 1U << 31, needs_moments = 1U << 30, rests = 1U << 29;

    LBM_HD bool has_links(int Q) const { return (links & ((1U << Q) - 1)) != 0; }

    UInt32 links;  // bit i: a formula gives population i; and the bits above
    UInt32 first;  // the first of these formulas in the list of links
};

/// The walls of a block, by chunks of rows: most of them have none, and the others have an entry for each cell.
/// Cells up to `around` beside the block are included, but along axes along which it is its own neighbour.
struct MomentWallRows {
    const int* chunk;  // of each chunk of each row, the number of its cells' entries; -1: it has no walls
    const MomentWallCell* cells;
    const backend::WallLink* links;
    int around;
    int chunks;              // of a row
    int cells_to_wall[6];    // behind each face of the block, 2 axis + side, before a wall; many where there is none
    int cells_to_mirror[6];  // the same before a face with free slip
    double force[3];         // for the velocity that formulas read
    // What formulas give in place of populations of the layer above, until that is there: in each of the steps numbers
    // of the arithmetic type for each of `cells`. Tiles that compute the same cell write the same numbers.
    void* kept;
    Index cell_count;

    LBM_HD Index row(const Address& a, int x, int y, int z) const {
        const int around_z = a.halo_z == 0 ? 0 : around;
        return (Index(z + around_z) * (a.ny + 2 * around) + y + around) * chunks + (x + wall_chunk) / wall_chunk;
    }
    LBM_HD static int place(int x) { return (x + wall_chunk) % wall_chunk; }
};

/// The arguments of an update of a block.
template <class Real, class Parameters>
struct MomentUpdate {
    const Real* source;
    Real* target;
    Address address;       // whose Q is the number of moments
    backend::RowBox rows;  // to update, with steps of 1
    int layers;            // of a segment along the last axis
    int tiles_x, tiles_y;  // that a layer of the rows is divided into
    const int* units;      // the numbers of the tiles of segments to update; null: all of them
    int unit_count;
    Parameters parameters;  // of the collision
    Real compressibility;   // 0 with the incompressible equilibrium (lattice/inertia.h)
    Real force[3];
    MomentWallRows walls;
};

}  // namespace lbm::cuda
