// The walls of a block on a GPU whose state is moments, as its updates read them: chunks of rows with an entry for each
// cell where there are walls or solid cells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../lattice/boundary/all.h"
#include "../block_state.h"
#include "../links.h"
#include "../moment_scaling.h"
#include "device.h"
#include "kernels/moment_arguments.h"
#include "kernels/moment_shape.h"
#include "upload.h"

namespace lbm::cuda {

/// The links of cells, once of all cells with the same ones, which then find them in the first-level cache.
class UniqueLinks {
public:
    /// The place of the first of the links of a cell.
    UInt32 first_of(const backend::WallLink* links, int count) {
        std::string key;
        for (int k = 0; k < count; ++k) {
            const auto add = [&](auto number) { key.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
            add(links[k].value);
            add(links[k].i);
            add(links[k].condition);
            add(links[k].off_wall);
            add(links[k].scaled);
        }
        const auto [found, is_new] = places_.try_emplace(std::move(key), UInt32(all_.size()));
        if (is_new) {
            all_.insert(all_.end(), links, links + count);
        }
        return found->second;
    }
    const std::vector<backend::WallLink>& all() const { return all_; }

private:
    std::vector<backend::WallLink> all_;
    std::unordered_map<std::string, UInt32> places_;
};

class DeviceMomentWalls {
public:
    DeviceMomentWalls(const Address& address, int D, const WorkStream& stream)
        : address_(address), D_(D), stream_(stream) {}

    void set_plan(const backend::LinkPlan& plan) {
        std::copy(plan.cells_to_wall, plan.cells_to_wall + 6, rows_.cells_to_wall);
        std::copy(plan.cells_to_mirror, plan.cells_to_mirror + 6, rows_.cells_to_mirror);
        rows_.around = address_.halo_x;
        rows_.chunks = (address_.nx + rows_.around - 1 + wall_chunk) / wall_chunk + 1;
        chunks_.clear();
        has_images_ = std::any_of(plan.cells_to_mirror, plan.cells_to_mirror + 6,
                                  [&](int cells) { return cells < rows_.around; });
        is_any_ = !plan.wall_cells.empty() || !plan.solid_cells.empty() || has_images_;
        std::vector<MomentWallCell> cells;
        if (is_any_) {
            const int around_z = address_.halo_z == 0 ? 0 : rows_.around;
            const Index rows = Index(address_.nz + 2 * around_z) * (address_.ny + 2 * rows_.around);
            chunks_.assign(std::size_t(rows * rows_.chunks), -1);
        }
        const auto entry = [&](int x, int y, int z) -> MomentWallCell& {
            int& chunk = chunks_[std::size_t(rows_.row(address_, x, y, z))];
            if (chunk < 0) {
                chunk = int(cells.size());
                cells.resize(cells.size() + wall_chunk, MomentWallCell{});
            }
            return cells[std::size_t(chunk) + std::size_t(MomentWallRows::place(x))];
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
        constexpr auto chunk = std::size_t(wall_chunk);
        walled_.assign(cells.size() / chunk, 0);
        cut_.assign(cells.size() / chunk, 0);
        for (std::size_t k = 0; k < cells.size(); ++k) {
            const UInt32 links = cells[k].links;
            walled_[k / chunk] |= CellMask(links != 0) << k % chunk;
            cut_[k / chunk] |= CellMask((links & MomentWallCell::is_cut) != 0) << k % chunk;
        }
        find_faces(plan);
        has_cuts_ = !plan.link_weights.empty();
        upload(weight_buffer_, stream_, plan.link_weights);
        chunk_buffer_ = {};
        upload(chunk_buffer_, stream_, chunks_);
        cells_ = std::move(cells);
        wall_cells_ = plan.wall_cells;
        set_values(plan);
    }
    /// Takes the values of the plan, which have changed.
    void set_values(const backend::LinkPlan& plan) {
        std::vector<backend::WallLink> links = plan.wall_links;
        rows_.reference_density = plan.reference_density;
        rows_.wall_inertia = plan.wall_inertia;
        upload(scaled_buffer_, stream_, plan.scaled_values);
        for (backend::WallLink& link : links) {
            if (link.condition == position_in<boundary::Conditions, boundary::NoSlip>) {  // a moving wall's formula too
                link.condition = position_in<boundary::Conditions, boundary::MovingWall>;
            }
        }
        UniqueLinks unique;
        for (const backend::WallCell& cell : wall_cells_) {
            const auto first = links.begin() + cell.first;
            const auto all = [&](auto&& holds) { return std::all_of(first, first + cell.count, holds); };
            const bool reflects = all([](const backend::WallLink& link) {
                return link.condition == position_in<boundary::Conditions, boundary::MovingWall> && link.scaled < 0;
            });
            const bool rests = reflects && all([](const backend::WallLink& link) { return link.value == 0; });
            const auto chunk = std::size_t(chunks_[std::size_t(rows_.row(address_, cell.x, cell.y, cell.z))]);
            MomentWallCell& to = cells_[chunk + std::size_t(MomentWallRows::place(cell.x))];
            to.links &= ~(MomentWallCell::rests | MomentWallCell::reflects);
            to.links |= (rests ? MomentWallCell::rests : 0) | (reflects ? MomentWallCell::reflects : 0);
            if (!has_cuts_ && !rests) {  // with cuts each link has weights of its own
                to.first = unique.first_of(&*first, cell.count);
            }
        }
        upload(cell_buffer_, stream_, cells_);
        upload(link_buffer_, stream_, has_cuts_ ? links : unique.all());
    }

    bool is_any() const { return is_any_; }
    /// Whether cells beside the block are images of others behind faces with free slip.
    bool has_images() const { return has_images_; }
    /// Whether most of the block's first or last cells along an axis have walls, or lie before free slip.
    bool has_face(int axis, int side) const { return has_face_[axis][side]; }
    /// Whether some cell of a box, which may lie beside the block, is solid, has walls next to it, or lies behind one
    /// or behind free slip. Along self-periodic axes positions are taken around.
    bool has_any(int first_x, int end_x, int first_y, int end_y, int first_z, int end_z) const {
        return is_any_of(first_x, end_x, first_y, end_y, first_z, end_z, walled_, true);
    }
    /// Whether some has walls that are not half-way to solid cells.
    bool has_cuts(int first_x, int end_x, int first_y, int end_y, int first_z, int end_z) const {
        return has_cuts_ && is_any_of(first_x, end_x, first_y, end_y, first_z, end_z, cut_, false);
    }
    /// Whether there are such walls at all.
    bool has_cuts() const { return has_cuts_; }
    /// Takes the factors of what changes in time, if these have changed. No update may be under way.
    void set_factors(const backend::MomentScaling& scaling) {
        if (version_ != scaling.version()) {
            version_ = scaling.version();
            upload(factor_buffer_, stream_, scaling.table());
        }
    }
    MomentWallRows arguments(const double (&force)[3], const backend::MomentScaling& scaling) const {
        MomentWallRows rows = rows_;
        if (scaling.scales_walls()) {
            rows.scaled_values = scaled_buffer_.as<backend::ScaledVector>();
            rows.factors = factor_buffer_.as<double>() + scaling.next_factors();
            rows.series = scaling.series();
        }
        rows.chunk = chunk_buffer_.as<int>();
        rows.cells = cell_buffer_.as<MomentWallCell>();
        rows.links = link_buffer_.as<backend::WallLink>();
        rows.weights = weight_buffer_.as<boundary::LinearWeights>();
        std::copy(force, force + 3, rows.force);
        return rows;
    }
    std::size_t bytes() const {
        return chunk_buffer_.bytes() + cell_buffer_.bytes() + link_buffer_.bytes() + weight_buffer_.bytes() +
               scaled_buffer_.bytes() + factor_buffer_.bytes();
    }

private:
    /// Of the cells of a chunk, one bit each.
    using CellMask = std::uint64_t;
    static_assert(wall_chunk == 64);

    void find_faces(const backend::LinkPlan& plan) {
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
    bool is_any_of(int first_x, int end_x, int first_y, int end_y, int first_z, int end_z,
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
    /// Takes a position around along self-periodic axes; false for one beyond what a step reads.
    bool find(int (&at)[3]) const {
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
    bool is_behind(const int (&at)[3]) const {
        const int n[3] = {address_.nx, address_.ny, address_.nz};
        bool is_any = false;
        for (int a = 0; a < D_; ++a) {
            const int before = -1 - at[a], behind = at[a] - n[a];
            is_any = is_any || before >= std::min(rows_.cells_to_wall[2 * a], rows_.cells_to_mirror[2 * a]) ||
                     behind >= std::min(rows_.cells_to_wall[2 * a + 1], rows_.cells_to_mirror[2 * a + 1]);
        }
        return is_any;
    }

    const Address& address_;
    int D_;
    const WorkStream& stream_;
    MomentWallRows rows_{};
    bool is_any_ = false, has_images_ = false, has_cuts_ = false, has_face_[3][2] = {};
    std::vector<int> chunks_;
    std::vector<MomentWallCell> cells_;
    std::vector<CellMask> walled_, cut_;  // of each chunk: solid cells and those with walls; see has_cuts()
    std::vector<backend::WallCell> wall_cells_;
    DeviceBuffer chunk_buffer_, cell_buffer_, link_buffer_, weight_buffer_, scaled_buffer_, factor_buffer_;
    Index version_ = -1;  // of the factors
};

}  // namespace lbm::cuda
