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
