// Where an element of a block's lattice lies in memory: rows interleaved by population, halo rows around, side columns.
//
// A row holds one population of all cells of one (y, z). Rows of the same (y, z) lie side by side, so that a cell's
// neighbourhood spans a few pages. Halo rows surround the block in y and z. Links that cross a face of the x axis have
// their place in side columns instead, contiguous in y: a halo cell in a row would cost a whole memory line. Along a
// wrapped axis neither is in use: what leaves at one end has its place at the other end. A halo of several cells has no
// side columns: those along x lie in the padding of the rows, before x = 0 in that of the row before.
//
// Temperatures lie behind the populations of their row, with a line before and behind: there each end of a row has the
// place of one cell more, as all neighbours of a cell are read and no number of such a line is shared by many rows.
#pragma once

#include "portability.h"

namespace lbm {

struct Address {
    int nx, ny, nz;
    int halo_y, halo_z;
    int halo_x;  // cells before and after a row, in the padding; 0 where side columns or wrapped rows take their links
    int Q;
    int through_x_face;        // populations that cross a face of the x axis, one way; 0 without side columns
    Index lead;                // elements before the first row
    Index row_stride;          // from (y, z) to (y + 1, z)
    Index population_stride;   // from population i to i + 1 of the same (y, z)
    Index pitch;               // from x = 0 of a row to the end of its padding
    Index sides;               // offset of the side columns
    Index numbers;             // offset of the numbers that cells before faces keep, of the arithmetic type
    Index numbers_stride;      // from those of one phase to the next
    Index temperature;         // from population 0 of a row to its temperature; 0: there is none
    Index temperature_stride;  // from that to the second one
    bool self_periodic[3];     // axes along which the block is its own neighbour

    LBM_HD static int wrapped(int at, int n) { return at < 0 ? at + n : at >= n ? at - n : at; }

    /// Element x = 0 of population i in row (y, z); y and z may lie in the halo.
    LBM_HD Index row(int y, int z, int i) const {
        y = self_periodic[1] ? wrapped(y, ny) : y;
        z = self_periodic[2] ? wrapped(z, nz) : z;
        return lead + (Index(z + halo_z) * (ny + 2 * halo_y) + (y + halo_y)) * row_stride + i * population_stride;
    }

    /// Population that arrives in cell (y, z) of the column at face -x (face 0) or +x (face 1); k is its through_x_face
    /// rank.
    LBM_HD Index x_face_in(int face, int k, int y, int z) const {
        return sides + (face * through_x_face + k) * x_face_stride() + Index(z) * ny + y;
    }

    /// From the column of one through_x_face rank to the next.
    LBM_HD Index x_face_stride() const { return Index(nz) * ny; }

    /// Population that leaves through face -x (face 0) or +x (face 1).
    LBM_HD Index x_face_out(int face, int k, int y, int z) const { return x_face_in(2 + face, k, y, z); }
};

}  // namespace lbm
