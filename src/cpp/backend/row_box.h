// Sets of rows of a block: rectangular boxes of rows, the interior, and the shell around it.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

/// The rows (y + k step_y, z + l step_z) for k < ny, l < nz.
struct RowBox {
    int y, z;
    int ny, nz;
    int step_y = 1, step_z = 1;

    LBM_HD Index count() const { return Index(ny) * nz; }
    /// Whether the box contains a row. This and the next one are for boxes with steps of 1.
    bool holds(int at_y, int at_z) const { return at_y >= y && at_y < y + ny && at_z >= z && at_z < z + nz; }
    /// The box with the rows beside it, of a block of all_y x all_z rows.
    RowBox grown(int all_y, int all_z) const {
        const int first_y = y > 0 ? y - 1 : 0, first_z = z > 0 ? z - 1 : 0;
        const int end_y = y + ny < all_y ? y + ny + 1 : all_y, end_z = z + nz < all_z ? z + nz + 1 : all_z;
        return {first_y, first_z, end_y - first_y, end_z - first_z};
    }
};

/// The cells of a block that are updated while the exchange goes on: those from `first_x` to before `end_x` of the rows
/// of a box. The others of these rows, if it has not whole ones, are the ends of its rows, which belong to the shell.
///
/// A late interior has whole rows although populations cross their ends from and to other blocks: engine/late_copies.h.
struct Interior {
    RowBox rows{};
    int first_x = 0, end_x = 0;
    bool defers_ends = false;

    bool empty() const { return rows.count() == 0; }
    /// Whether it has rows of `nx` cells without their ends.
    bool is_trimmed(int nx) const { return !empty() && end_x - first_x < nx; }
    bool holds(int x, int y, int z) const { return rows.holds(y, z) && x >= first_x && x < end_x; }
    /// Its rows, if it is late with those beside it.
    RowBox with_adjacent_rows(int ny, int nz) const { return defers_ends ? rows.grown(ny, nz) : rows; }
};

/// The rows of a box that are not in another one, as at most four boxes: of a block, those around its interior.
struct Shell {
    RowBox boxes[4];
    int count = 0;

    Shell() = default;
    Shell(int ny, int nz, const RowBox& interior) : Shell({0, 0, ny, nz}, interior) {}
    Shell(const RowBox& all, const RowBox& inner) {
        const int above_y = inner.y + inner.ny, above_z = inner.z + inner.nz;
        const int end_y = all.y + all.ny, end_z = all.z + all.nz;
        if (inner.z == all.z + 1 && above_z == end_z - 1) {
            add({all.y, all.z, all.ny, 2, 1, all.nz - 1});
        } else {
            add({all.y, all.z, all.ny, inner.z - all.z});
            add({all.y, above_z, all.ny, end_z - above_z});
        }
        if (inner.y == all.y + 1 && above_y == end_y - 1) {
            add({all.y, inner.z, 2, inner.nz, all.ny - 1, 1});
        } else {
            add({all.y, inner.z, inner.y - all.y, inner.nz});
            add({above_y, inner.z, end_y - above_y, inner.nz});
        }
    }

private:
    void add(const RowBox& box) {
        if (box.count() > 0) {
            boxes[count++] = box;
        }
    }
};

}  // namespace lbm::backend
