// Finds the walls of a block whose state is moments by their places.
#include "moment_wall_map.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace lbm::cuda {

void MomentWallMap::set_plan(const backend::LinkPlan& plan) {
    std::copy(plan.cells_to_wall, plan.cells_to_wall + 6, rows_.cells_to_wall);
    std::copy(plan.cells_to_mirror, plan.cells_to_mirror + 6, rows_.cells_to_mirror);
    rows_.around = address_.halo_x;
    rows_.chunks = (address_.nx + rows_.around - 1 + wall_chunk) / wall_chunk + 1;
    chunks_.clear();
    cells_.clear();
    has_images_ =
        std::any_of(plan.cells_to_mirror, plan.cells_to_mirror + 6, [&](int cells) { return cells < rows_.around; });
    is_any_ = !plan.wall_cells.empty() || !plan.solid_cells.empty() || has_images_;
    has_cuts_ = !plan.link_weights.empty();
    if (is_any_) {
        const int around_z = address_.halo_z == 0 ? 0 : rows_.around;
        const Index rows = Index(address_.nz + 2 * around_z) * (address_.ny + 2 * rows_.around);
        chunks_.assign(std::size_t(rows * rows_.chunks), -1);
    }
    add_entries(plan);
    constexpr auto chunk = std::size_t(wall_chunk);
    walled_.assign(cells_.size() / chunk, 0);
    cut_.assign(cells_.size() / chunk, 0);
    solid_.assign(cells_.size() / chunk, 0);
    for (std::size_t k = 0; k < cells_.size(); ++k) {
        const UInt32 links = cells_[k].links;
        walled_[k / chunk] |= CellMask(links != 0) << k % chunk;
        cut_[k / chunk] |= CellMask((links & MomentWallCell::is_cut) != 0) << k % chunk;
        solid_[k / chunk] |= CellMask((links & MomentWallCell::solid) != 0) << k % chunk;
    }
    find_faces(plan);
}

void MomentWallMap::add_entries(const backend::LinkPlan& plan) {
    const auto entry = [&](int x, int y, int z) -> MomentWallCell& {
        int& chunk = chunks_[std::size_t(rows_.row(address_, x, y, z))];
        if (chunk < 0) {
            if (cells_.size() > std::size_t(std::numeric_limits<int>::max() - wall_chunk)) {
                throw std::length_error(
                    "state: 'moments' given with walls next to too many cells of one block, must be "
                    "divided into more blocks");
            }
            chunk = int(cells_.size());
            cells_.resize(cells_.size() + wall_chunk, MomentWallCell{});
        }
        return cell(x, y, z);
    };
    for (const backend::SolidCell& cell : plan.solid_cells) {
        entry(cell.x, cell.y, cell.z).links = MomentWallCell::solid;
    }
    for (const backend::WallCell& cell : plan.wall_cells) {
        MomentWallCell& to = entry(cell.x, cell.y, cell.z);
        to.first = UInt32(cell.first);
        for (int k = 0; k < cell.count; ++k) {
            to.links |= 1U << plan.wall_links[std::size_t(cell.first) + std::size_t(k)].i;
        }
        to.links |= cell.needs_moments ? MomentWallCell::needs_moments : 0;
        to.links |= cell.is_cut ? MomentWallCell::is_cut : 0;
    }
}

void MomentWallMap::find_faces(const backend::LinkPlan& plan) {
    const int n[3] = {address_.nx, address_.ny, address_.nz};
    Index at_face[3][2] = {};
    for (const backend::WallCell& cell : plan.wall_cells) {
        const int at[3] = {cell.x, cell.y, cell.z};
        bool is_own = true;
        for (int a = 0; a < 3; ++a) {
            is_own = is_own && at[a] >= 0 && at[a] < n[a];
        }
        for (int a = 0; a < 3; ++a) {
            at_face[a][0] += is_own && at[a] == 0 ? 1 : 0;
            at_face[a][1] += is_own && at[a] == n[a] - 1 ? 1 : 0;
        }
    }
    for (int a = 0; a < 3; ++a) {
        for (int side = 0; side < 2; ++side) {
            const bool has_walls = 2 * at_face[a][side] * n[a] > Index(n[0]) * n[1] * n[2];
            has_face_[a][side] = has_walls || plan.cells_to_mirror[2 * a + side] < rows_.around;
        }
    }
}

/// Whether some cell of a box is one of those of the `masks` of chunks, or with `behind` lies behind a wall or free
/// slip. Cells of a row that share a chunk are looked at together.
bool MomentWallMap::is_any_of(int first_x, int end_x, int first_y, int end_y, int first_z, int end_z,
                              const std::vector<CellMask>& masks, bool behind) const {
    for (int z = first_z; z < end_z; ++z) {
        for (int y = first_y; y < end_y; ++y) {
            for (int x = first_x, count = 1; x < end_x; x += count) {
                int at[3] = {x, y, z};
                count = 1;
                if (!find(at)) {
                    continue;
                }
                if (behind && is_behind(at)) {
                    return true;
                }
                const int place = MomentWallRows::place(at[0]);
                if (at[0] >= 0 && at[0] < address_.nx) {
                    count = std::min({wall_chunk - place, address_.nx - at[0], end_x - x});
                }
                const int first = chunks_[std::size_t(rows_.row(address_, at[0], at[1], at[2]))];
                if (first >= 0) {
                    const CellMask cells = masks[std::size_t(first / wall_chunk)] >> place;
                    if ((cells & (~CellMask(0) >> (wall_chunk - count))) != 0) {
                        return true;
                    }
                }
            }
        }
    }
    return false;
}

bool MomentWallMap::is_solid(int first_x, int end_x, int first_y, int end_y, int z) const {
    for (int y = first_y; y < end_y; ++y) {
        for (int x = first_x, count = 0; x < end_x; x += count) {
            const int first = chunks_[std::size_t(rows_.row(address_, x, y, z))], place = MomentWallRows::place(x);
            count = std::min(wall_chunk - place, end_x - x);
            const CellMask all = ~CellMask(0) >> (wall_chunk - count);
            if (first < 0 || (solid_[std::size_t(first / wall_chunk)] >> place & all) != all) {
                return false;
            }
        }
    }
    return true;
}

/// Takes a position around along self-periodic axes; false for one beyond what a step reads.
bool MomentWallMap::find(int (&at)[3]) const {
    const int n[3] = {address_.nx, address_.ny, address_.nz};
    for (int a = 0; a < D_; ++a) {
        if (address_.self_periodic[a]) {
            at[a] = (at[a] % n[a] + n[a]) % n[a];
        } else if (at[a] < -rows_.around || at[a] >= n[a] + rows_.around) {
            return false;
        }
    }
    return true;
}

/// Whether a cell lies behind a wall or behind free slip.
bool MomentWallMap::is_behind(const int (&at)[3]) const {
    const int n[3] = {address_.nx, address_.ny, address_.nz};
    bool is_any = false;
    for (int a = 0; a < D_; ++a) {
        const int before = -1 - at[a], behind = at[a] - n[a];
        is_any = is_any || before >= std::min(rows_.cells_to_wall[2 * a], rows_.cells_to_mirror[2 * a]) ||
                 behind >= std::min(rows_.cells_to_wall[2 * a + 1], rows_.cells_to_mirror[2 * a + 1]);
    }
    return is_any;
}

}  // namespace lbm::cuda
