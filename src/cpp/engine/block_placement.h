// The placement of a block: its offset in the domain and the addresses of its numbers in memory. Boundary-and-halo
// plans are made from the placements of all blocks.
#pragma once

#include <cstddef>
#include <vector>

#include "../backend/end_columns.h"
#include "../backend/row_box.h"
#include "../lattice/address.h"
#include "../lattice/turbulence/gradient.h"
#include "domain.h"

namespace lbm::engine {

/// What a plan is made for: to update the block, or only to tell what it imports from blocks in the window of this
/// process, which knows no more of a block of another one.
enum class PlanOf { Block, Imports };

struct BlockPlacement {
    int offset[3];            // of the block's corner in the domain
    Address address;          // addresses in the block's memory, and its size
    int stored[6] = {};       // by face: the numbers that each boundary cell of it keeps from step to step
    int number_elements = 1;  // the elements of the lattice that one such number occupies
    backend::EndColumns columns{};
    VelocityRows velocity{};
    backend::RowBox late_rows{};  // of its interior, if that is late
    bool keeps_moments = false;   // whether the numbers of a cell are moments

    /// Whether a place lies in the x-face buffers of one of these rows.
    bool is_at_end_of(const backend::RowBox& rows, Index place) const {
        if (place < address.x_face_buffers || place >= address.x_face_end()) {
            return false;
        }
        const Index row = (place - address.x_face_buffers) % address.x_face_stride();
        return rows.holds(int(row % address.ny), int(row / address.ny));
    }

    bool holds(const int (&cell)[3]) const {
        const int size[3] = {address.nx, address.ny, address.nz};
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
            inside = inside && cell[d] >= offset[d] && cell[d] < offset[d] + size[d];
        }
        return inside;
    }
};

/// Finds the block that holds a cell of the domain. The blocks must tile the domain.
class BlockFinder {
public:
    /// Block `own` is tried first, as most cells that a plan asks about are its own.
    BlockFinder(const std::vector<BlockPlacement>& blocks, int own) : blocks_(blocks), own_(own), last_(own) {}

    int operator()(const int (&cell)[3]) {
        if (blocks_[std::size_t(own_)].holds(cell)) {
            return own_;
        }
        if (!blocks_[std::size_t(last_)].holds(cell)) {
            last_ = 0;
            while (!blocks_[std::size_t(last_)].holds(cell)) {
                ++last_;
            }
        }
        return last_;
    }

private:
    const std::vector<BlockPlacement>& blocks_;
    const int own_;
    int last_;  // the block found last, tried second: consecutive cells at a border mostly lie in one neighbour
};

}  // namespace lbm::engine
