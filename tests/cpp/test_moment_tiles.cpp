// Tests the tiles of a CPU's updates of moments.
#include "../../src/cpp/backend/cpu/cpu_block.h"
#include "../../src/cpp/backend/cpu/moment_tiles.h"
#include "check.h"

using namespace lbm;
using namespace lbm::cpu;

TEST(moment_tiles_are_as_high_as_the_cache_allows) {
    const auto rows = [](std::size_t cache) { return most_tile_rows(19, 192, 192, 2, 4, cache); };
    const auto used = [](int rows) { return std::size_t(MomentScratch(3, 19, 192, 2, rows, false).used(2)) * 4; };
    for (const std::size_t cache : {std::size_t(1) << 20, std::size_t(2) << 20}) {
        CHECK(used(rows(cache)) <= cache / 8 * 5);
        CHECK(used(rows(cache) + 1) > cache / 8 * 5);
    }
    CHECK_EQUAL(rows(0), rows(std::size_t(1) << 20));
    CHECK_EQUAL(rows(std::size_t(1) << 30), rows(std::size_t(4) << 20));
}

TEST(moment_tiles_know_the_cache_of_this_machine) {
    CHECK(second_level_cache() >= std::size_t(32) << 10);
    CHECK(second_level_cache() <= std::size_t(1) << 30);
}

TEST(moment_tiles_in_two_dimensions_have_parts_of_long_rows) {
    const std::size_t cache = std::size_t(2) << 20;
    const auto most = [&](int nx, bool is_self_periodic, int number_bytes) {
        return most_tile_cells(9, nx, is_self_periodic, 6, number_bytes, cache);
    };
    CHECK_EQUAL(most(500, true, 4), 500);
    for (const int number_bytes : {4, 8}) {
        const int cells = most(5000, false, number_bytes);
        CHECK(cells < 5000);
        CHECK_EQUAL(cells % int(MomentScratch::line), 0);
        CHECK(std::size_t(MomentScratch(2, 9, cells, 6, 1, false).used(6)) * std::size_t(number_bytes) <= cache / 2);
        CHECK_EQUAL(most(5000, true, number_bytes), 5000);  // no whole lines of memory
        CHECK(most(4992, true, number_bytes) < 4992);
    }

    for (const int number_bytes : {4, 8}) {
        for (const std::size_t quarters : {4, 5, 8, 16}) {
            for (int nx = 600; nx < 100000; ++nx) {
                const int cells = most_tile_cells(9, nx, false, 6, number_bytes, quarters << 18);
                if ((nx - 1) % cells + 1 < 6) {
                    CHECK(false);
                }
            }
        }
    }

    std::vector<Tile> tiles;
    add_tiles(tiles, {2, 0, 10, 1}, 5000, 2, 3, {1680, 10});
    CHECK_EQUAL(tiles.size(), std::size_t(9));
    Index cells = 0;
    for (const Tile& tile : tiles) {
        CHECK(tile.first_x % 1680 == 0 && tile.first_x < tile.end_x && tile.end_x <= 5000);
        CHECK(tile.first_y >= 2 && tile.first_y < tile.end_y && tile.end_y <= 12);
        cells += Index(tile.end_x - tile.first_x) * (tile.end_y - tile.first_y);
    }
    CHECK_EQUAL(cells, Index(50000));
}
