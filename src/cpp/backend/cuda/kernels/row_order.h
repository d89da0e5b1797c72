// The order in which an update goes through the rows of a box, which decides what the caches still have of neighbours.
#pragma once

#include "../../../lattice/streaming.h"
#include "../../row_box.h"
#include "prefetch.h"

namespace lbm::cuda {

/// The position of a row in a box of rows.
struct RowAt {
    unsigned y, z;
};

/// How rows follow one another: along y, then z, in the whole box or within tiles along y; or in such tiles by squares
/// of two rows along y and two along z.
enum class RowSequence { Layers, Tiles, Squares };

/// How an update goes through rows, and how it asks for coming ones.
struct RowOrder {
    RowSequence sequence;
    unsigned tile_rows;  // along y; of tiles and squares
    bool line_by_line;   // whether coming rows are asked for by prefetch_row_ahead() of RowCells
};

/// The order with temperatures, the fastest of those measured on an NVIDIA H200 with MRT in D3Q19
/// (docs/performance.md): tiles of half as many rows took 0.5 to 2 % longer, of twice as many as long or up to 1 %
/// longer.
template <class Real, Phase phase>
constexpr RowOrder thermal_order{RowSequence::Tiles,
                                 sizeof(Real) == 8            ? 32
                                 : phase == Phase::TwoLattice ? 128
                                                              : 64,
                                 true};

/// The order of an update. Velocities and temperatures of neighbours are read in three layers z: tiles keep what lies
/// between in the second-level cache. With velocities the rows of a thread block are squares, so that they read many of
/// each other's, which the first-level cache serves. Without neighbours rows follow the memory.
template <class Real, Phase phase, bool reads_velocities, bool reads_temperatures>
constexpr RowOrder row_order = reads_velocities     ? RowOrder{RowSequence::Squares, 64, false}
                               : reads_temperatures ? thermal_order<Real, phase>
                                                    : RowOrder{RowSequence::Layers, 0, false};

/// The position of a row by its number. The product estimates z, right or too small by one.
__device__ inline RowAt row_in_layers(unsigned row, const backend::RowBox& rows, UInt32 inverse_ny) {
    const unsigned z = __umulhi(row, inverse_ny), y = row - z * unsigned(rows.ny);
    const bool next = y >= unsigned(rows.ny);
    return {next ? y - unsigned(rows.ny) : y, next ? z + 1 : z};
}

/// `most` is the number of rows of a tile along y; the last tile may have fewer.
template <unsigned most>
__device__ inline RowAt row_in_tiles(unsigned row, const backend::RowBox& rows) {
    const unsigned tile = row / (most * unsigned(rows.nz));
    const unsigned height = min(most, unsigned(rows.ny) - most * tile);
    const unsigned in_tile = row - tile * most * unsigned(rows.nz);
    const unsigned z = in_tile / height;
    return {tile * most + in_tile - z * height, z};
}

/// As row_in_tiles; the last layer of an odd number of layers has no partner.
template <unsigned most>
__device__ inline RowAt row_in_squares(unsigned row, const backend::RowBox& rows) {
    const unsigned tile = row / (most * unsigned(rows.nz));
    const unsigned height = min(most, unsigned(rows.ny) - most * tile);
    const unsigned in_tile = row - tile * most * unsigned(rows.nz);
    const unsigned z = in_tile / (2 * height) * 2, in_layers = in_tile - z * height;
    const bool is_pair = z + 1 < unsigned(rows.nz);
    return {tile * most + (is_pair ? in_layers / 2 : in_layers), z + (is_pair ? in_layers % 2 : 0)};
}

template <RowOrder order>
__device__ inline RowAt row_in_order(unsigned row, const backend::RowBox& rows, UInt32 inverse_ny) {
    if constexpr (order.sequence == RowSequence::Layers) {
        return row_in_layers(row, rows, inverse_ny);
    } else if constexpr (order.sequence == RowSequence::Tiles) {
        return row_in_tiles<order.tile_rows>(row, rows);
    } else {
        return row_in_squares<order.tile_rows>(row, rows);
    }
}

/// How far ahead a thread of a row asks for populations, in an order of rows; see prefetch.h.
template <RowOrder order>
__device__ inline RowsAhead ahead_in_order(unsigned row, const RowAt& at, const backend::RowBox& rows,
                                           unsigned rows_ahead, Index row_bytes, Index layer_bytes) {
    if constexpr (order.sequence == RowSequence::Layers) {
        return ahead_in_layers(row, rows, rows_ahead, row_bytes);
    } else {
        return ahead_in_tiles<order.tile_rows>(at.z, rows, rows_ahead, layer_bytes);
    }
}

}  // namespace lbm::cuda
