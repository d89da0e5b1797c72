// Tests the split of a block's rows into shell and interior, which must cover each row exactly once, and the
// computation of the times of a step's parts.
#include "../../src/cpp/engine/interior.h"

#include <vector>

#include "../../src/cpp/backend/cpu/row_ranges.h"
#include "../../src/cpp/engine/step_times.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Index;
using lbm::backend::RowBox;
using lbm::backend::Shell;
using lbm::cpu::RowRanges;
using lbm::engine::Block;
using lbm::engine::Domain;

/// A domain of 8 x 8 x 8 cells, periodic or between walls.
Domain domain_of(bool periodic) {
    lbm::engine::Setup setup = tests::small_setup("D3Q19");
    setup.shape = {8, 8, 8};
    setup.faces.assign(6, periodic ? "periodic" : "no-slip");
    return lbm::engine::make_domain(setup);
}

void check_interior(const Domain& domain, const Block& block, const RowBox& expected) {
    const RowBox found = lbm::engine::interior_of(domain, 1, block);
    CHECK_EQUAL(found.y, expected.y);
    CHECK_EQUAL(found.z, expected.z);
    CHECK_EQUAL(found.ny, expected.ny);
    CHECK_EQUAL(found.nz, expected.nz);
}

/// How often each row of a block is in shell and interior together.
std::vector<int> covered(int ny, int nz, const RowBox& interior) {
    std::vector<int> count(std::size_t(ny) * std::size_t(nz));
    const auto add = [&](const RowBox& box) {
        for (int l = 0; l < box.nz; ++l) {
            for (int k = 0; k < box.ny; ++k) {
                const Index row = Index(box.z + l * box.step_z) * ny + box.y + k * box.step_y;
                ++count[std::size_t(row)];
            }
        }
    };
    const Shell shell(ny, nz, interior);
    for (int k = 0; k < shell.count; ++k) {
        add(shell.boxes[k]);
    }
    add(interior);
    return count;
}

std::vector<RowBox> interiors(int ny, int nz) {
    std::vector<RowBox> all = {{}};
    for (int y = 0; y < ny; ++y) {
        for (int z = 0; z < nz; ++z) {
            for (int rows = 1; rows <= ny - y; ++rows) {
                for (int layers = 1; layers <= nz - z; ++layers) {
                    all.push_back({y, z, rows, layers});
                }
            }
        }
    }
    return all;
}

}  // namespace

TEST(interior_keeps_off_other_blocks) {
    const Domain periodic = domain_of(true), walls = domain_of(false);
    check_interior(walls, {{0, 0, 0}, {8, 8, 4}, 0, "cpu"}, {0, 0, 8, 3});
    check_interior(walls, {{0, 0, 4}, {8, 8, 4}, 0, "cpu"}, {0, 1, 8, 3});
    check_interior(periodic, {{0, 0, 0}, {8, 8, 4}, 0, "cpu"}, {0, 1, 8, 2});
    check_interior(periodic, {{0, 2, 4}, {8, 4, 4}, 0, "cpu"}, {1, 1, 2, 2});
    check_interior(periodic, {{0, 0, 0}, {8, 8, 8}, 0, "cpu"}, {0, 0, 8, 8});
}

TEST(interior_is_empty_where_rows_are_cut_or_blocks_are_thin) {
    const Domain periodic = domain_of(true), walls = domain_of(false);
    check_interior(periodic, {{0, 0, 0}, {4, 8, 8}, 0, "cpu"}, {});
    check_interior(walls, {{4, 0, 0}, {4, 8, 8}, 0, "cpu"}, {});
    check_interior(periodic, {{0, 0, 3}, {8, 8, 2}, 0, "cpu"}, {});
    check_interior(walls, {{0, 0, 0}, {8, 8, 1}, 0, "cpu"}, {});
}

TEST(interior_and_shell_are_all_rows_once) {
    for (const int ny : {1, 2, 3, 5}) {
        for (const int nz : {1, 2, 3, 4}) {
            for (const RowBox& interior : interiors(ny, nz)) {
                for (const int times : covered(ny, nz, interior)) {
                    CHECK_EQUAL(times, 1);
                }
            }
        }
    }
}

TEST(interior_as_ranges_of_rows_is_shared_without_gap_or_overlap) {
    constexpr int ny = 5, nz = 4;
    for (const RowBox& interior : interiors(ny, nz)) {
        for (const RowRanges& ranges : {RowRanges::of(ny, interior), RowRanges::around(ny, nz, interior)}) {
            std::vector<int> count(std::size_t{ny * nz});
            for (const Index threads : {1, 3}) {
                for (Index k = 0; k < threads; ++k) {
                    ranges.visit(ranges.rows() * k / threads, ranges.rows() * (k + 1) / threads,
                                 [&](Index first, Index last) {
                                     for (Index row = first; row < last; ++row) {
                                         ++count[std::size_t(row)];
                                     }
                                 });
                }
            }
            Index rows = 0;
            for (const int times : count) {
                CHECK(times == 0 || times == 2);
                rows += times / 2;
            }
            CHECK_EQUAL(rows, ranges.rows());
        }
        CHECK_EQUAL(RowRanges::of(ny, interior).rows(), interior.count());
        CHECK_EQUAL(RowRanges::around(ny, nz, interior).rows(), Index(ny) * nz - interior.count());
    }
}

TEST(interior_hides_the_exchange_that_runs_meanwhile) {
    using lbm::engine::PhaseTimes;
    // Begun, filled, shell done, interior begun and done, exchanged: a GPU, whose interior begins with the shell,
    const PhaseTimes hidden = PhaseTimes::between({0, 1, 3, 1, 8, 6});
    CHECK_EQUAL(hidden.boundary, 1.0);
    CHECK_EQUAL(hidden.update, 7.0);
    CHECK_EQUAL(hidden.exchange, 0.0);
    CHECK_EQUAL(hidden.hidden, 3.0);
    // one whose exchange outlasts the interior,
    const PhaseTimes longer = PhaseTimes::between({0, 1, 3, 1, 5, 9});
    CHECK_EQUAL(longer.update, 4.0);
    CHECK_EQUAL(longer.exchange, 4.0);
    CHECK_EQUAL(longer.hidden, 2.0);
    // a CPU, which packs, updates its interior and waits for messages,
    const PhaseTimes host = PhaseTimes::between({0, 1, 3, 4, 9, 11});
    CHECK_EQUAL(host.update, 7.0);
    CHECK_EQUAL(host.exchange, 3.0);
    CHECK_EQUAL(host.hidden, 5.0);
    // and a block without an interior.
    const PhaseTimes none = PhaseTimes::between({0, 1, 3, 3, 3, 7});
    CHECK_EQUAL(none.update, 2.0);
    CHECK_EQUAL(none.exchange, 4.0);
    CHECK_EQUAL(none.hidden, 0.0);
}
