// Tests the tiles of an update of moments, and the interior that it has where the shell is deeper than it needs to be.
#include "../../src/cpp/backend/cuda/moment_launches.h"

#include "../../src/cpp/backend/moment_kind.h"
#include "check.h"
#include "configurations.h"

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

/// The tiles of a large block on a GPU of this generation, with so much shared memory for a thread block.
lbm::cuda::MomentTilings tilings_of(const char* stencil, const char* collision, lbm::backend::NumberKind precision,
                                    int generation, int kibibytes, const lbm::cuda::MomentNeeds& needs = {}) {
    lbm::engine::Setup setup = tests::small_setup(stencil);
    setup.collision = collision;
    const bool plane = setup.shape.size() == 2;
    setup.shape.assign(plane ? 2 : 3, plane ? 4096 : 512);
    setup.state = plane ? &lbm::backend::moment_state_2d : &lbm::backend::moment_state;
    lbm::backend::BlockSpec spec = lbm::engine::block_spec(setup);
    spec.precision = spec.storage = precision;
    lbm::cuda::DeviceInfo device{};
    device.major = generation;
    device.multiprocessors = 132;
    device.shared_bytes_per_block = kibibytes << 10;
    return lbm::cuda::moment_tilings(spec, device, needs);
}

bool has(const lbm::cuda::MomentTiling& tiling, int rows, bool populations, int sums) {
    return tiling.rows == rows && tiling.kept == lbm::cuda::InShared{populations, sums};
}

bool are_rows(const RowBox& box, int first, int end) {
    return box.y == first && box.y + box.ny == end && box.z == 0 && box.nz == 20;
}

}  // namespace

TEST(moment_launches_choose_tiles) {
    using lbm::cuda::Forcing;
    constexpr auto single = lbm::backend::NumberKind::Float32, twice = lbm::backend::NumberKind::Float64;
    const auto clean = [](const char* stencil, const char* collision, auto precision, int generation, int kibibytes,
                          Forcing forcing = Forcing::None) {
        return tilings_of(stencil, collision, precision, generation, kibibytes, {forcing, false, false}).clean;
    };
    const char *second = "regularized", *all = "recursive-regularized";
    CHECK(has(clean("D3Q19", second, single, 9, 227), 11, false, 0));
    CHECK(has(clean("D3Q19", second, single, 9, 227, Forcing::Uniform), 11, false, 12));
    CHECK(has(clean("D3Q19", second, single, 8, 99), 11, false, 0));
    CHECK(has(clean("D3Q19", second, single, 8, 99, Forcing::Uniform), 8, false, 12));
    CHECK(has(clean("D3Q19", all, single, 10, 227), 11, false, 12));
    CHECK(has(clean("D3Q19", all, single, 12, 99), 7, false, 0));
    CHECK(has(clean("D3Q27", second, single, 8, 163), 11, false, 3));
    CHECK(has(clean("D3Q27", all, single, 9, 227), 11, false, 16));
    CHECK(has(clean("D3Q27", all, single, 9, 227, Forcing::Field), 9, false, 28));
    CHECK(has(clean("D3Q27", all, single, 10, 227), 10, false, 24));
    CHECK(has(clean("D3Q27", all, single, 12, 99), 5, false, 0));
    CHECK(has(clean("D3Q19", second, twice, 9, 227), 10, false, 0));
    CHECK(has(clean("D3Q27", second, twice, 9, 227), 9, false, 6));
    CHECK(has(clean("D3Q27", all, twice, 9, 227), 6, false, 12));
}

TEST(moment_launches_choose_tiles_at_walls) {
    constexpr auto single = lbm::backend::NumberKind::Float32;
    const auto walled = [](const char* stencil, int kibibytes, bool cuts, bool scaled) {
        return tilings_of(stencil, "regularized", single, 9, kibibytes, {lbm::cuda::Forcing::None, cuts, scaled})
            .walled;
    };
    CHECK(has(walled("D3Q19", 227, false, false), 10, true, 18));
    CHECK(has(walled("D3Q27", 227, true, false), 10, true, 18));
    CHECK(has(walled("D3Q19", 227, false, true), 10, true, 28));
    CHECK(has(walled("D3Q27", 227, true, true), 10, true, 30));
    CHECK(has(walled("D3Q27", 99, false, true), 3, true, 30));
    CHECK(has(walled("D3Q19", 99, false, false), 7, true, 18));
    CHECK(has(walled("D3Q19", 99, true, false), 5, true, 18));
    CHECK(has(walled("D3Q19", 99, false, true), 5, true, 28));
    CHECK(has(walled("D3Q27", 99, false, false), 4, true, 18));
    CHECK(has(walled("D3Q27", 99, true, false), 3, true, 18));
    CHECK(has(walled("D3Q27", 163, false, false), 9, true, 18));
    CHECK(has(walled("D3Q27", 163, true, false), 7, true, 18));
    CHECK(has(walled("D3Q27", 163, false, true), 8, true, 30));
}

TEST(moment_launches_choose_low_tiles_at_faces_across_y) {
    const auto at_y_face = [](const char* stencil, lbm::backend::NumberKind real, int kibibytes, bool cuts) {
        return tilings_of(stencil, "regularized", real, 9, kibibytes, {lbm::cuda::Forcing::None, cuts, false})
            .at_y_face;
    };
    constexpr auto single = lbm::backend::NumberKind::Float32, twice = lbm::backend::NumberKind::Float64;
    for (const char* stencil : {"D3Q19", "D3Q27"}) {
        for (const bool cuts : {false, true}) {
            CHECK(has(at_y_face(stencil, single, 227, cuts), 3, true, 18));
            CHECK_EQUAL(at_y_face(stencil, single, 227, cuts).units_at_once, 2);
            CHECK_EQUAL(at_y_face(stencil, single, 99, cuts).rows, 0);
            CHECK_EQUAL(at_y_face(stencil, twice, 227, cuts).rows, 0);
        }
    }
}

TEST(moment_launches_choose_strips) {
    constexpr auto single = lbm::backend::NumberKind::Float32;
    const auto walled = [](int kibibytes, bool cuts) {
        return tilings_of("D2Q9", "regularized", single, 9, kibibytes, {lbm::cuda::Forcing::None, cuts, false}).walled;
    };
    CHECK(has(walled(227, true), 3, true, 96));
    CHECK_EQUAL(walled(227, false).units_at_once, 12);
    CHECK_EQUAL(walled(227, true).units_at_once, 8);
    CHECK_EQUAL(walled(99, true).units_at_once, 4);
    CHECK(has(walled(64, false), 3, true, 60));  // of two layers alone
    CHECK(has(walled(64, true), 3, true, 0));
}

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
