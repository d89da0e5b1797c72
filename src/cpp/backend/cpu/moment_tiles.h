// The tiles in which threads update rows of a block whose state is moments, swept along the last axis: as many rows
// along y as the second-level cache has room for the sums of, in two dimensions as many cells of a row. Each thread has
// a slab of the last axis of its own.
#pragma once

#include <algorithm>
#include <vector>

#include "../row_box.h"
#include "moment_kernels.h"

namespace lbm::cpu {

/// Cells from `first` to before `end` along each axis.
struct Tile {
    int first_x, end_x, first_y, end_y, first_z, end_z;
};

/// The most cells of a tile along a row, and the most rows along y.
struct TileSize {
    int cells, rows;
};

/// The second-level cache that a thread has for itself, in bytes, as if it were 1 MiB at least, as smaller tiles
/// compute too many of the cells around them once more, and 4 MiB at most.
inline Index cache_for_tiles(std::size_t cache) {
    constexpr Index mebibyte = 1 << 20;
    return std::clamp(Index(cache), mebibyte, 4 * mebibyte);
}

/// The most rows of a tile along y, in three dimensions: their working memory takes up to five eighths of the cache.
/// The rest is for what comes from memory.
inline int most_tile_rows(int Q, int nx, int ny, int steps, Index number_bytes, std::size_t cache) {
    const Index most = cache_for_tiles(cache) / 8 * 5;
    int rows = 4;
    while (rows < ny && MomentScratch(3, Q, nx, steps, rows + 1, false).used(steps) * number_bytes <= most) {
        ++rows;
    }
    return rows;
}

/// The most cells of a tile along a row, in two dimensions: their working memory takes up to half of the cache, where
/// more was slower. Of a row that is cut all tiles but the last one have as many, in whole packs; and the last one has
/// no fewer than `steps`, so that only it computes cells behind the end of the row, where there may be a wall. A
/// periodic row is cut only into whole packs, so that none of them lies at both of its ends.
inline int most_tile_cells(int Q, int nx, bool is_self_periodic, int steps, Index number_bytes, std::size_t cache) {
    constexpr int line = int(MomentScratch::line);
    if (is_self_periodic && nx % line != 0) {
        return nx;
    }
    const Index most = cache_for_tiles(cache) / 2;
    int parts = 1, cells = nx;
    while (cells > 2 * line && MomentScratch(2, Q, cells, steps, 1, false).used(steps) * number_bytes > most) {
        ++parts;
        cells = ((nx + parts - 1) / parts + line - 1) / line * line;
    }
    while (cells < nx && (nx - 1) % cells + 1 < steps) {
        cells += line;
    }
    return cells;
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
inline void add_tiles(std::vector<Tile>& tiles, const backend::RowBox& box, int nx, int D, int threads,
                      const TileSize& most) {
    if (box.count() == 0) {
        return;
    }
    if (D == 2) {
        const std::vector<int> cuts = cuts_of(box.y, box.ny, std::min(threads, box.ny));
        for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
            for (int x = 0; x < nx; x += most.cells) {
                tiles.push_back({x, std::min(x + most.cells, nx), cuts[k], cuts[k + 1], 0, 1});
            }
        }
        return;
    }
    const int slabs = std::min(threads, box.nz);
    const int wanted = std::max((box.ny + most.rows - 1) / most.rows, (threads + slabs - 1) / slabs);
    const std::vector<int> z = cuts_of(box.z, box.nz, slabs), y = cuts_of(box.y, box.ny, std::min(wanted, box.ny));
    for (std::size_t l = 0; l + 1 < z.size(); ++l) {
        for (std::size_t k = 0; k + 1 < y.size(); ++k) {
            tiles.push_back({0, nx, y[k], y[k + 1], z[l], z[l + 1]});
        }
    }
}

/// Appends the tiles of a box of few layers, which is updated before others: so tiles, which each sweep some layers
/// more than they store, divide the layers only as far as there are not enough rows for the threads.
inline void add_tiles_of_slab(std::vector<Tile>& tiles, const backend::RowBox& box, int nx, int D, int threads,
                              const TileSize& most) {
    if (D == 2) {
        add_tiles(tiles, box, nx, D, threads, most);
        return;
    }
    constexpr int least_rows = 4;
    const auto side_by_side = [&](int parts) { return (threads + parts - 1) / parts; };
    int parts = 1;
    while (parts < std::min(threads, box.nz) && side_by_side(parts) * least_rows > box.ny) {
        ++parts;
    }
    const int share = side_by_side(parts), needed = (box.ny + most.rows - 1) / most.rows;
    const int wanted = std::min((needed + share - 1) / share * share, box.ny);
    const std::vector<int> z = cuts_of(box.z, box.nz, parts), y = cuts_of(box.y, box.ny, wanted);
    for (std::size_t l = 0; l + 1 < z.size(); ++l) {
        for (std::size_t k = 0; k + 1 < y.size(); ++k) {
            tiles.push_back({0, nx, y[k], y[k + 1], z[l], z[l + 1]});
        }
    }
}

/// Appends the tiles of all rows of a block but those of a box: the shell around an interior.
inline void add_tiles_around(std::vector<Tile>& tiles, const backend::RowBox& box, const Address& a, int D, int threads,
                             const TileSize& most) {
    const auto add = [&](const backend::RowBox& rows) { add_tiles(tiles, rows, a.nx, D, threads, most); };
    if (box.count() == 0) {
        add({0, 0, a.ny, a.nz});
        return;
    }
    const int end_y = box.y + box.ny, end_z = box.z + box.nz;
    add({0, 0, a.ny, box.z});
    add({0, box.z, box.y, box.nz});
    add({end_y, box.z, a.ny - end_y, box.nz});
    add({0, end_z, a.ny, a.nz - end_z});
}

}  // namespace lbm::cpu
