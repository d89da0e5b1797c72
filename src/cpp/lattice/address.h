// The memory layout of a block's lattice: rows interleaved by population, halo rows, and x-face buffers.
//
// A row holds one population of all cells of one (y, z). The Q rows of one (y, z) are adjacent, so that the
// neighbourhood of a cell spans few pages. Halo rows surround the block in y and z. Links that cross a face of the x
// axis are stored in x-face buffers instead, contiguous in y, because a halo cell at the end of a row would cost a
// whole memory line. What leaves in a step and in the next one has buffers of its own, in the two lattices or, in
// place, in one: another block may still copy the former while the latter is written. Along a self-periodic axis
// neither halo rows nor buffers are used: what leaves at one end is stored at the other end. A halo of several cells
// has no x-face buffers: its cells along x lie in the padding of the rows, those before x = 0 in the padding of the
// previous row.
//
// Where a cell keeps moments in place of populations, each two of the Q rows are one row of pairs of numbers
// (moment_place).
//
// Temperatures follow the populations of their row, with a memory line before and after them. That leaves one halo cell
// at each end of a row: a temperature is read by all neighbours, which x-face buffers do not suit.
#pragma once

#include "portability.h"

namespace lbm {

/// The dimensions, strides and offsets of a block's lattice, in elements of the storage type.
struct Address {
    int nx, ny, nz;
    int halo_y, halo_z;
    int halo_x;  // halo cells at each end of a row, in the padding; 0 with x-face buffers or a self-periodic x axis
    int Q;
    int through_x_face;        // populations that cross a face of the x axis in one direction; 0 without x-face buffers
    int phases;                // of the streaming pattern, each with x-face buffers for what leaves
    Index lead;                // elements before the first row
    Index row_stride;          // from (y, z) to (y + 1, z)
    Index population_stride;   // from population i to i + 1 of the same (y, z)
    Index pitch;               // from x = 0 of a row to the end of its padding
    Index x_face_buffers;      // offset of the x-face buffers
    Index numbers;             // offset of the numbers that boundary cells keep, which are of the arithmetic type
    Index numbers_stride;      // from the boundary numbers of one phase to those of the next
    Index temperature;         // from population 0 of a row to its temperature; 0: there is none
    Index temperature_stride;  // from the temperatures of one phase to those of the next
    bool self_periodic[3];     // axes along which the block is its own neighbour

    LBM_HD static int wrapped(int at, int n) { return at < 0 ? at + n : at >= n ? at - n : at; }

    /// Offset of population i of cell (0, y, z); y and z may lie in the halo.
    LBM_HD Index row(int y, int z, int i) const {
        y = self_periodic[1] ? wrapped(y, ny) : y;
        z = self_periodic[2] ? wrapped(z, nz) : z;
        return lead + (Index(z + halo_z) * (ny + 2 * halo_y) + (y + halo_y)) * row_stride + i * population_stride;
    }

    /// Offset in the x-face buffers of the population that enters cell (y, z) through face -x (face 0) or +x (face 1);
    /// k is its rank_through_x_face.
    LBM_HD Index x_face_in(int face, int k, int y, int z) const {
        return x_face_buffers + (face * through_x_face + k) * x_face_stride() + Index(z) * ny + y;
    }

    /// Distance from the buffer of one rank to that of the next.
    LBM_HD Index x_face_stride() const { return Index(nz) * ny; }

    /// Offset of the population that leaves through face -x (face 0) or +x (face 1) in a step of the phase with this
    /// index.
    LBM_HD Index x_face_out(int face, int k, int y, int z, int phase) const {
        return x_face_in(2 + 2 * phase + face, k, y, z);
    }

    /// The offset behind the x-face buffers.
    LBM_HD Index x_face_end() const { return x_face_in(2 + 2 * phases, 0, 0, 0); }
};

/// Offset of number k of a cell that keeps moments, from row(y, z, 0) of its row on. Numbers 2 g and 2 g + 1 of a cell
/// lie side by side, followed by those of the next cell: a GPU thread reads them in vectors of 16 bytes, and the few
/// cells beside a tile lie in half as many sectors of memory. The second-level cache, which reads these sectors, bounds
/// the speed.
LBM_HD constexpr Index moment_place(int k, Index x, Index population_stride) {
    return k / 2 * (2 * population_stride) + 2 * x + k % 2;
}

}  // namespace lbm
