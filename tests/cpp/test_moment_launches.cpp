// Tests the interior that an update of moments has where the shell is deeper than it needs to be.
#include "../../src/cpp/backend/cuda/moment_launches.h"
#include "check.h"

namespace {

using lbm::Address;
using lbm::backend::RowBox;

const lbm::cuda::MomentTiling tiling{2, 11, 64, 11, 1, 1};

/// The interior of a block of `ny` rows between a shell of so many rows on each side, with tiles of 11 rows.
RowBox inner(int ny, int low, int high, int D = 3) {
    Address address{};
    address.ny = ny;
    address.nz = 20;
    return lbm::cuda::inner_rows({low, 0, ny - low - high, 20}, tiling, address, D);
}

bool are_rows(const RowBox& box, int first, int end) {
    return box.y == first && box.y + box.ny == end && box.z == 0 && box.nz == 20;
}

}  // namespace

TEST(moment_launches_have_shells_as_high_as_tiles_where_y_is_cut) {
    CHECK(are_rows(inner(100, 2, 2), 11, 89));
    CHECK(are_rows(inner(100, 2, 0), 11, 100));
    CHECK(are_rows(inner(100, 0, 2), 0, 89));
    CHECK(are_rows(inner(100, 0, 0), 0, 100));
}

TEST(moment_launches_leave_the_interior_where_few_rows_are_left) {
    CHECK(are_rows(inner(44, 2, 2), 11, 33));
    CHECK(are_rows(inner(43, 2, 2), 2, 41));
    CHECK(are_rows(inner(100, 2, 2, 2), 2, 98));
}

TEST(moment_launches_leave_the_layers_where_z_is_cut) {
    Address address{};
    address.ny = 100;
    address.nz = 64;
    const RowBox inner = lbm::cuda::inner_rows({2, 2, 96, 60}, tiling, address, 3);
    CHECK(inner.y == 11 && inner.ny == 78 && inner.z == 2 && inner.nz == 60);
}

TEST(moment_launches_have_no_interior_where_there_is_none) {
    Address address{};
    address.ny = 100;
    address.nz = 40;
    CHECK(lbm::cuda::inner_rows({}, tiling, address, 3).count() == 0);
}
