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
    /// Whether the box contains a row; for boxes with steps of 1.
    bool holds(int at_y, int at_z) const { return at_y >= y && at_y < y + ny && at_z >= z && at_z < z + nz; }
};

/// The cells of a block that are updated while the exchange goes on: those from `first_x` to before `end_x` of the rows
/// of a box. The others of these rows, if it has not whole ones, are the ends of its rows, which belong to the shell.
///
/// The rows of a late interior are whole, though other blocks read and write the populations at their ends. These are
/// exchanged after it, while the next step updates the rows of the shell that are not beside it.
struct Interior {
    RowBox rows{};
    int first_x = 0, end_x = 0;
    bool is_late = false;

    bool empty() const { return rows.count() == 0; }
    /// Whether it has rows of `nx` cells without their ends.
    bool is_trimmed(int nx) const { return !empty() && end_x - first_x < nx; }
    bool holds(int x, int y, int z) const { return rows.holds(y, z) && x >= first_x && x < end_x; }
};

/// The rows of a block of ny x nz rows that are not in `interior`, as at most four boxes.
struct Shell {
    RowBox boxes[4];
    int count = 0;

    Shell() = default;
    Shell(int ny, int nz, const RowBox& interior) {
        const int above_y = interior.y + interior.ny, above_z = interior.z + interior.nz;
        if (interior.z == 1 && above_z == nz - 1) {
            add({0, 0, ny, 2, 1, nz - 1});
        } else {
            add({0, 0, ny, interior.z});
            add({0, above_z, ny, nz - above_z});
        }
        if (interior.y == 1 && above_y == ny - 1) {
            add({0, interior.z, 2, interior.nz, ny - 1, 1});
        } else {
            add({0, interior.z, interior.y, interior.nz});
            add({above_y, interior.z, ny - above_y, interior.nz});
        }
    }

    /// The rows of a block that are beside a box of rows, `reach` rows around it at most.
    static Shell beside(int ny, int nz, const RowBox& rows, int reach) {
        const RowBox all = grown(ny, nz, rows, reach);
        Shell found(all.ny, all.nz, {rows.y - all.y, rows.z - all.z, rows.ny, rows.nz});
        for (int k = 0; k < found.count; ++k) {
            found.boxes[k].y += all.y;
            found.boxes[k].z += all.z;
        }
        return found;
    }
    /// A box of rows with those beside it.
    static RowBox grown(int ny, int nz, const RowBox& rows, int reach) {
        const int y = rows.y > reach ? rows.y - reach : 0, z = rows.z > reach ? rows.z - reach : 0;
        const int end_y = rows.y + rows.ny + reach < ny ? rows.y + rows.ny + reach : ny;
        const int end_z = rows.z + rows.nz + reach < nz ? rows.z + rows.nz + reach : nz;
        return {y, z, end_y - y, end_z - z};
    }

private:
    void add(const RowBox& box) {
        if (box.count() > 0) {
            boxes[count++] = box;
        }
    }
};

}  // namespace lbm::backend
