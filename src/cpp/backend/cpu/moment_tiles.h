// The tiles in which threads update rows of a block whose state is moments: as many rows along y as the second-level
// cache has room for the sums of, swept along the last axis. Each thread has a slab of the last axis of its own.
#pragma once

#include <algorithm>
#include <vector>

#include "../row_box.h"
#include "moment_kernels.h"

namespace lbm::cpu {

/// Rows from `first` to before `end` along y and z.
struct Tile {
    int first_y, end_y, first_z, end_z;
};

/// The most rows of a tile along y, in three dimensions: their working memory takes up to five eighths of the `cache`
/// that a thread has for itself, in bytes, as if it were 1 MiB at least, as lower tiles compute too many of the rows
/// beside them once more, and 4 MiB at most. The rest is for what comes from memory.
inline int most_tile_rows(int Q, int nx, int ny, int steps, Index number_bytes, std::size_t cache) {
    constexpr Index mebibyte = 1 << 20;
    const Index most = std::clamp(Index(cache), mebibyte, 4 * mebibyte) / 8 * 5;
    int rows = 4;
    while (rows < ny && MomentScratch(3, Q, nx, steps, rows + 1, false).used(steps) * number_bytes <= most) {
        ++rows;
    }
    return rows;
}

/// Divides n into parts of about equal size; the cuts, with both ends.
inline std::vector<int> cuts_of(int first, int n, int parts) {
    std::vector<int> cuts;
    for (int k = 0; k <= parts; ++k) {
        cuts.push_back(first + int(Index(n) * k / parts));
    }
    return cuts;
}

/// Appends the tiles of a box of rows, in an order in which equal shares are slabs.
inline void add_tiles(std::vector<Tile>& tiles, const backend::RowBox& box, int D, int threads, int most_rows) {
    if (box.count() == 0) {
        return;
    }
    if (D == 2) {
        const std::vector<int> cuts = cuts_of(box.y, box.ny, std::min(threads, box.ny));
        for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
            tiles.push_back({cuts[k], cuts[k + 1], 0, 1});
        }
        return;
    }
    const int slabs = std::min(threads, box.nz);
    const int wanted = std::max((box.ny + most_rows - 1) / most_rows, (threads + slabs - 1) / slabs);
    const std::vector<int> z = cuts_of(box.z, box.nz, slabs), y = cuts_of(box.y, box.ny, std::min(wanted, box.ny));
    for (std::size_t l = 0; l + 1 < z.size(); ++l) {
        for (std::size_t k = 0; k + 1 < y.size(); ++k) {
            tiles.push_back({y[k], y[k + 1], z[l], z[l + 1]});
        }
    }
}

/// Appends the tiles of a box of few layers, which is updated before others: so tiles, which each sweep some layers
/// more than they store, divide the layers only as far as there are not enough rows for the threads.
inline void add_tiles_of_slab(std::vector<Tile>& tiles, const backend::RowBox& box, int D, int threads, int most_rows) {
    if (D == 2) {
        add_tiles(tiles, box, D, threads, most_rows);
        return;
    }
    constexpr int least_rows = 4;
    const auto side_by_side = [&](int parts) { return (threads + parts - 1) / parts; };
    int parts = 1;
    while (parts < std::min(threads, box.nz) && side_by_side(parts) * least_rows > box.ny) {
        ++parts;
    }
    const int share = side_by_side(parts), needed = (box.ny + most_rows - 1) / most_rows;
    const int wanted = std::min((needed + share - 1) / share * share, box.ny);
    const std::vector<int> z = cuts_of(box.z, box.nz, parts), y = cuts_of(box.y, box.ny, wanted);
    for (std::size_t l = 0; l + 1 < z.size(); ++l) {
        for (std::size_t k = 0; k + 1 < y.size(); ++k) {
            tiles.push_back({y[k], y[k + 1], z[l], z[l + 1]});
        }
    }
}

/// Appends the tiles of all rows of a block but those of a box: the shell around an interior.
inline void add_tiles_around(std::vector<Tile>& tiles, const backend::RowBox& box, int ny, int nz, int D, int threads,
                             int most_rows) {
    if (box.count() == 0) {
        add_tiles(tiles, {0, 0, ny, nz}, D, threads, most_rows);
        return;
    }
    const int end_y = box.y + box.ny, end_z = box.z + box.nz;
    add_tiles(tiles, {0, 0, ny, box.z}, D, threads, most_rows);
    add_tiles(tiles, {0, box.z, box.y, box.nz}, D, threads, most_rows);
    add_tiles(tiles, {end_y, box.z, ny - end_y, box.nz}, D, threads, most_rows);
    add_tiles(tiles, {0, end_z, ny, nz - end_z}, D, threads, most_rows);
}

}  // namespace lbm::cpu
