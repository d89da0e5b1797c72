// Where a block whose state is moments has walls, as the host looks for them when it divides the block: chunks of rows
// with an entry for each cell where there are walls or solid cells.
#pragma once

#include <cstdint>
#include <vector>

#include "../links.h"
#include "kernels/moment_arguments.h"

namespace lbm::cuda {

/// The walls of a block by places; updates read its chunks and cells from the GPU's memory (DeviceMomentWalls).
class MomentWallMap {
public:
    MomentWallMap(const Address& address, int D) : address_(address), D_(D) {}

    void set_plan(const backend::LinkPlan& plan);

    bool is_any() const { return is_any_; }
    /// Whether cells beside the block are images of others behind faces with free slip.
    bool has_images() const { return has_images_; }
    /// Whether there are walls that are not half-way to solid cells.
    bool has_cuts() const { return has_cuts_; }
    /// Whether most of the block's first or last cells along an axis have walls, or lie before free slip.
    bool has_face(int axis, int side) const { return has_face_[axis][side]; }
    /// Whether some cell of a box, which may lie beside the block, is solid, has walls next to it, or lies behind one
    /// or behind free slip. Along self-periodic axes positions are taken around.
    bool has_any(int first_x, int end_x, int first_y, int end_y, int first_z, int end_z) const {
        return is_any_ && is_any_of(first_x, end_x, first_y, end_y, first_z, end_z, walled_, true);
    }
    /// Whether all cells of rows of one layer of the block are solid.
    bool is_solid(int first_x, int end_x, int first_y, int end_y, int z) const;
    /// Whether some has walls that are not half-way to solid cells.
    bool has_cuts(int first_x, int end_x, int first_y, int end_y, int first_z, int end_z) const {
        return has_cuts_ && is_any_of(first_x, end_x, first_y, end_y, first_z, end_z, cut_, false);
    }

    /// What updates need to find a cell's entry, but for what lies in the GPU's memory.
    const MomentWallRows& rows() const { return rows_; }
    const std::vector<int>& chunks() const { return chunks_; }
    const std::vector<MomentWallCell>& cells() const { return cells_; }
    /// The entry of a cell of the plan.
    MomentWallCell& cell(int x, int y, int z) {
        const auto first = std::size_t(chunks_[std::size_t(rows_.row(address_, x, y, z))]);
        return cells_[first + std::size_t(MomentWallRows::place(x))];
    }

private:
    /// Of the cells of a chunk, one bit each.
    using CellMask = std::uint64_t;
    static_assert(wall_chunk == 64);

    void add_entries(const backend::LinkPlan& plan);
    void find_faces(const backend::LinkPlan& plan);
    bool is_any_of(int first_x, int end_x, int first_y, int end_y, int first_z, int end_z,
                   const std::vector<CellMask>& masks, bool behind) const;
    bool find(int (&at)[3]) const;
    bool is_behind(const int (&at)[3]) const;

    const Address& address_;
    int D_;
    MomentWallRows rows_{};
    bool is_any_ = false, has_images_ = false, has_cuts_ = false, has_face_[3][2] = {};
    std::vector<int> chunks_;
    std::vector<MomentWallCell> cells_;
    // Of each chunk: solid cells and those with walls, those of has_cuts(), and solid cells alone.
    std::vector<CellMask> walled_, cut_, solid_;
};

}  // namespace lbm::cuda
