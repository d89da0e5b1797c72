// Tests the units of updates of moments: they store all cells but solid ones, and those without walls read none next to
// walls.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../src/cpp/backend/cuda/moment_units.h"
#include "check.h"

namespace {

using lbm::Address;
using lbm::backend::LinkPlan;
using lbm::backend::RowBox;
using lbm::cuda::DeviceInfo;
using lbm::cuda::MomentTilings;
using lbm::cuda::MomentUnit;
using lbm::cuda::MomentUnits;
using lbm::cuda::MomentWallMap;

enum class Ends { Periodic, Open, LowerWall, UpperWall, Walls };

bool has_wall(Ends ends, int side) {
    return ends == Ends::Walls || ends == (side == 0 ? Ends::LowerWall : Ends::UpperWall);
}

/// A block with walls across x, z and, in three dimensions, y and, unless `body` is 0, some cells with walls amid it
/// and one beside its lower end.
struct Block {
    Block(int D, std::vector<int> size, Ends x, Ends z, int body, Ends y = Ends::Periodic) {
        address.nx = size[0];
        address.ny = size[1];
        address.nz = size[2];
        steps = D == 3 ? 2 : 6;
        address.halo_x = address.halo_y = steps;
        address.halo_z = D == 3 ? steps : 0;
        address.self_periodic[0] = x == Ends::Periodic;
        address.self_periodic[1] = D == 3 && y == Ends::Periodic;
        address.self_periodic[2] = D == 3 && z == Ends::Periodic;
        for (int side = 0; side < 2; ++side) {
            if (has_wall(x, side)) {
                plan.cells_to_wall[side] = 0;
                add(side == 0 ? 0 : size[0] - 1, 1, 0, size[1], 0, size[2]);
            }
            if (has_wall(y, side)) {
                plan.cells_to_wall[2 + side] = 0;
                add(0, size[0], side == 0 ? 0 : size[1] - 1, 1, 0, size[2]);
            }
            if (has_wall(z, side)) {
                plan.cells_to_wall[4 + side] = 0;
                add(0, size[0], 0, size[1], side == 0 ? 0 : size[2] - 1, 1);
            }
        }
        if (body > 0) {
            add(std::min(body, size[0] - 1), 1, size[1] / 2, 1, size[2] / 3, 1);
            if (!address.self_periodic[0] && !has_wall(x, 0)) {
                add(-1, 1, size[1] / 3, 1, size[2] / 2, 1);
            }
        }
        std::stable_sort(plan.wall_cells.begin(), plan.wall_cells.end(), [](const auto& a, const auto& b) {
            return std::vector{a.z, a.y, a.x} < std::vector{b.z, b.y, b.x};
        });
    }

    void add(int x, int nx, int y, int ny, int z, int nz) {
        for (int c = z; c < z + nz; ++c) {
            for (int b = y; b < y + ny; ++b) {
                for (int a = x; a < x + nx; ++a) {
                    plan.wall_cells.push_back({a, b, c, int(plan.wall_links.size()), 1, false});
                    plan.wall_links.push_back({0.0, 1, 0});
                }
            }
        }
    }
    /// A box of solid cells.
    void add_solid(int x, int nx, int y, int ny, int z, int nz) {
        for (int c = z; c < z + nz; ++c) {
            for (int b = y; b < y + ny; ++b) {
                for (int a = x; a < x + nx; ++a) {
                    plan.solid_cells.push_back({a, b, c});
                }
            }
        }
    }
    /// Whether a unit of tiles that store so many cells of a row reads a cell with walls.
    bool reads_walls(const MomentUnit& unit, int own_x, int D) const {
        const int end_x = std::min(unit.x + own_x, address.nx);
        const auto is_near = [&](int axis, int at, int first, int end) {
            const int n = axis == 0 ? address.nx : axis == 1 ? address.ny : address.nz;
            const int places[] = {at, at - n, at + n};  // along a periodic axis all, else the first
            return std::any_of(places, places + (address.self_periodic[axis] ? 3 : 1),
                               [&](int place) { return place >= first - steps && place < end + steps; });
        };
        const auto is_read = [&](const auto& cell) {
            const int last = D == 3 ? cell.z : cell.y;
            return is_near(0, cell.x, unit.x, end_x) &&
                   is_near(D == 3 ? 2 : 1, last, unit.first, unit.first + unit.layers) &&
                   (D == 2 || is_near(1, cell.y, unit.y, unit.end_y));
        };
        return std::any_of(plan.wall_cells.begin(), plan.wall_cells.end(), is_read) ||
               std::any_of(plan.solid_cells.begin(), plan.solid_cells.end(), is_read);
    }

    Address address{};
    int steps;
    LinkPlan plan;
};

/// Tiles of 64 x 11 cells, two in each thread, or in float64 of 32 x 10; with walls of 32 x 10 or 32 x 6.
MomentTilings tilings_of(int cells_per_thread) {
    if (cells_per_thread == 2) {
        return {{2, 11, 64, 11, 1, 1}, {1, 10, 32, 10, 1, 1}, {1, 4, 4, 28, 1, 2}, {1, 3, 32, 3, 1, 2}};
    }
    return {{1, 10, 32, 10, 1, 1}, {1, 6, 32, 6, 1, 1}, {1, 4, 4, 28, 1, 1}, {}};
}

/// How many cells are stored by the units of `rows` rows from `y` on, or of all from there on.
std::ptrdiff_t check_units(const Block& block, const MomentTilings& tilings, int D, int y = 0, int rows = -1) {
    const Address& a = block.address;
    MomentWallMap walls(a, D);
    walls.set_plan(block.plan);
    DeviceInfo device{};
    device.multiprocessors = 4;
    const RowBox all{y, 0, rows < 0 ? a.ny - y : rows, a.nz};
    const MomentUnits::Lists lists = MomentUnits::divided(all, tilings, a, D, block.steps, device, walls, 1);
    std::vector<char> is_stored(std::size_t(a.nx) * std::size_t(a.ny) * std::size_t(a.nz), 0);
    for (int k = 0; k < MomentUnits::kind_count; ++k) {
        const lbm::cuda::MomentUnitKind& kind = MomentUnits::kinds[k];
        const lbm::cuda::MomentTiling& tiling = tilings.of(kind);
        for (const MomentUnit& unit : lists[std::size_t(k)]) {
            CHECK(unit.x >= 0 && unit.x < a.nx && unit.layers > 0 && unit.first >= 0);
            CHECK(unit.first + unit.layers <= (D == 3 ? a.nz : a.ny));
            CHECK(D == 2 || (unit.y >= 0 && unit.end_y <= a.ny && unit.end_y - unit.y <= tiling.own_y));
            CHECK_EQUAL(unit.x % tiling.cells_per_thread, 0);  // whose numbers are loaded at once
            CHECK(kind.walls || !block.reads_walls(unit, tiling.own_x, D));
            const int first_y = D == 3 ? unit.y : unit.first, end_y = D == 3 ? unit.end_y : unit.first + unit.layers;
            const int first_z = D == 3 ? unit.first : 0, end_z = D == 3 ? unit.first + unit.layers : 1;
            for (int z = first_z; z < end_z; ++z) {
                for (int y = first_y; y < end_y; ++y) {
                    char* const row = is_stored.data() + (std::ptrdiff_t(z) * a.ny + y) * a.nx;
                    std::fill(row + unit.x, row + std::min(unit.x + tiling.own_x, a.nx), char(1));
                }
            }
        }
    }
    const std::ptrdiff_t stored = std::count(is_stored.begin(), is_stored.end(), 1);
    for (const lbm::backend::SolidCell& cell : block.plan.solid_cells) {
        is_stored[(std::size_t(cell.z) * std::size_t(a.ny) + std::size_t(cell.y)) * std::size_t(a.nx) +
                  std::size_t(cell.x)] = 1;
    }
    for (int z = 0; z < a.nz; ++z) {
        const char* const row = is_stored.data() + (std::ptrdiff_t(z) * a.ny + all.y) * a.nx;
        CHECK(std::find(row, row + std::ptrdiff_t(all.ny) * a.nx, 0) == row + std::ptrdiff_t(all.ny) * a.nx);
    }
    return stored;
}

constexpr Ends all_ends[] = {Ends::Periodic, Ends::Open, Ends::LowerWall, Ends::UpperWall, Ends::Walls};

}  // namespace

TEST(moment_units_store_all_cells) {
    for (const int cells_per_thread : {1, 2}) {
        for (const int nx : {1, 37, 64, 73, 74, 127, 128, 150, 255}) {
            for (const auto& [ny, nz] : {std::pair{3, 9}, {14, 40}, {31, 21}}) {
                for (const Ends x : all_ends) {
                    for (const Ends z : {Ends::Periodic, Ends::Walls, Ends::UpperWall}) {
                        for (const int body : {0, 40, nx - 2}) {
                            check_units(Block(3, {nx, ny, nz}, x, z, std::max(body, 0)), tilings_of(cells_per_thread),
                                        3);
                        }
                    }
                }
            }
        }
    }
}

TEST(moment_units_store_all_cells_between_faces_across_y) {
    for (const int cells_per_thread : {1, 2}) {
        for (const int nx : {37, 73, 150, 255}) {
            for (const int ny : {5, 14, 17, 31, 68}) {
                for (const Ends x : {Ends::Periodic, Ends::UpperWall, Ends::Walls}) {
                    for (const Ends y : all_ends) {
                        for (const int body : {0, 40}) {
                            const Block block(3, {nx, ny, 21}, x, Ends::UpperWall, body, y);
                            const MomentTilings tilings = tilings_of(cells_per_thread);
                            check_units(block, tilings, 3);
                            check_units(block, tilings, 3, ny / 2);
                            check_units(block, tilings, 3, 2, ny / 2);
                        }
                    }
                }
            }
        }
    }
}

TEST(moment_units_at_faces_across_y_have_few_rows) {
    const Block block(3, {130, 60, 40}, Ends::Periodic, Ends::Periodic, 0, Ends::Walls);
    MomentWallMap walls(block.address, 3);
    walls.set_plan(block.plan);
    DeviceInfo device{};
    device.multiprocessors = 4;
    const MomentUnits::Lists lists =
        MomentUnits::divided({0, 0, 60, 40}, tilings_of(2), block.address, 3, block.steps, device, walls, 1);
    for (int k = 0; k < MomentUnits::kind_count; ++k) {
        const auto& [has_walls, cuts, face] = MomentUnits::kinds[k];
        CHECK_EQUAL(lists[std::size_t(k)].empty(), cuts || (has_walls && face != lbm::cuda::MomentFace::Y));
    }
}

TEST(moment_units_store_all_cells_in_two_dimensions) {
    const MomentTilings strips{{2, 3, 52, 1, 4, 12}, {2, 3, 52, 1, 4, 12}, {}, {}};
    for (const int nx : {1, 37, 52, 64, 105, 255, 1000}) {
        for (const int ny : {1, 9, 64, 301}) {
            for (const Ends x : all_ends) {
                for (const int body : {0, 40, nx - 2}) {
                    check_units(Block(2, {nx, ny, 1}, x, Ends::Open, std::max(body, 0)), strips, 2);
                }
            }
        }
    }
}

TEST(moment_units_need_no_tiles_at_walls_where_there_are_none) {
    MomentTilings tilings = tilings_of(1);
    tilings.walled = tilings.at_x_face = tilings.at_y_face = {};
    check_units(Block(3, {70, 31, 9}, Ends::Periodic, Ends::Periodic, 0), tilings, 3);
}

TEST(moment_units_store_few_solid_cells) {
    for (const int cells_per_thread : {1, 2}) {
        for (const Ends ends : {Ends::Periodic, Ends::Walls}) {
            Block block(3, {200, 70, 60}, ends, ends, 0);
            block.add_solid(30, 130, 10, 50, 6, 40);
            CHECK(check_units(block, tilings_of(cells_per_thread), 3) < 200 * 70 * 60 - 90 * 30 * 40);
            block.add_solid(0, 200, 0, 70, 0, 60);
            CHECK_EQUAL(check_units(block, tilings_of(cells_per_thread), 3), 0);
        }
    }
    const MomentTilings strips{{2, 3, 52, 1, 4, 12}, {2, 3, 52, 1, 4, 12}, {}, {}};
    Block block(2, {400, 200, 1}, Ends::Walls, Ends::Open, 0);
    block.add_solid(60, 300, 20, 150, 0, 1);
    CHECK(check_units(block, strips, 2) < 400 * 200 - 200 * 150);
}
