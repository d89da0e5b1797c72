// Tests the split of a block's cells into shell and interior, which must cover each exactly once, the columns that
// blocks gather for others, and the computation of the times of a step's parts.
#include "../../src/cpp/engine/interior.h"

#include <vector>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/backend/cpu/row_ranges.h"
#include "../../src/cpp/engine/gathered_copies.h"
#include "../../src/cpp/engine/step_times.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Address;
using lbm::Index;
using lbm::backend::BlockSpec;
using lbm::backend::Interior;
using lbm::backend::RowBox;
using lbm::backend::Shell;
using lbm::cpu::RowRanges;
using lbm::engine::Block;
using lbm::engine::Domain;

/// A domain with its spec.
struct Whole {
    Domain domain;
    BlockSpec spec;

    Interior interior_of(const Block& block) const { return lbm::engine::interior_of(domain, spec, block, false); }
};

/// A domain of float64, periodic or between walls.
Whole whole_of(bool periodic, const std::vector<int>& shape = {8, 8, 8}, const std::string& stencil = "D3Q19") {
    lbm::engine::Setup setup = tests::small_setup(stencil);
    if (stencil == "D2Q37") {
        setup.collision = "thermal-bgk";
        setup.streaming = "two-lattice";
    }
    setup.shape = shape;
    setup.faces.assign(2 * shape.size(), periodic ? "periodic" : "no-slip");
    return {lbm::engine::make_domain(setup), lbm::engine::block_spec(setup)};
}

void check_interior(const Whole& whole, const Block& block, const Interior& expected) {
    const Interior found = whole.interior_of(block);
    CHECK_EQUAL(found.rows.y, expected.rows.y);
    CHECK_EQUAL(found.rows.z, expected.rows.z);
    CHECK_EQUAL(found.rows.ny, expected.rows.ny);
    CHECK_EQUAL(found.rows.nz, expected.rows.nz);
    CHECK_EQUAL(found.first_x, expected.first_x);
    CHECK_EQUAL(found.end_x, expected.end_x);
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
    const Whole periodic = whole_of(true), walls = whole_of(false);
    check_interior(walls, {{0, 0, 0}, {8, 8, 4}, 0, "cpu"}, {{0, 0, 8, 3}, 0, 8});
    check_interior(walls, {{0, 0, 4}, {8, 8, 4}, 0, "cpu"}, {{0, 1, 8, 3}, 0, 8});
    check_interior(periodic, {{0, 0, 0}, {8, 8, 4}, 0, "cpu"}, {{0, 1, 8, 2}, 0, 8});
    check_interior(periodic, {{0, 2, 4}, {8, 4, 4}, 0, "cpu"}, {{1, 1, 2, 2}, 0, 8});
    check_interior(periodic, {{0, 0, 0}, {8, 8, 8}, 0, "cpu"}, {{0, 0, 8, 8}, 0, 8});
}

TEST(interior_keeps_off_the_ends_of_cut_rows) {  // by packs of 8 float64 on the CPU, by sectors of 4 on a GPU
    const Whole walls = whole_of(false, {80, 8, 8});
    check_interior(walls, {{0, 0, 0}, {40, 8, 8}, 0, "cpu"}, {{0, 0, 8, 8}, 8, 32});
    check_interior(walls, {{0, 0, 0}, {41, 8, 4}, 0, "cpu"}, {{0, 0, 8, 3}, 8, 40});
    check_interior(walls, {{0, 0, 0}, {80, 8, 4}, 0, "cuda:0"}, {{0, 0, 8, 3}, 0, 80});
    check_interior(walls, {{40, 0, 0}, {40, 8, 8}, 0, "cuda:0"}, {});
    const Whole gas = whole_of(true, {80, 20}, "D2Q37");
    check_interior(gas, {{0, 0, 0}, {40, 20, 1}, 0, "cpu"}, {{0, 0, 20, 1}, 8, 32});
    check_interior(gas, {{0, 0, 0}, {42, 10, 1}, 0, "cuda:1"}, {{3, 0, 4, 1}, 4, 36});
}

TEST(interior_of_cut_rows_is_no_larger_than_it_must_be) {
    const Whole walls = whole_of(false, {2048, 512, 512});
    const Interior whole_rows = walls.interior_of({{0, 0, 0}, {2048, 512, 256}, 0, "cuda:0"});
    CHECK_EQUAL(whole_rows.rows.count(), Index(512) * 255);
    const Interior trimmed = walls.interior_of({{512, 0, 0}, {512, 512, 512}, 0, "cpu"});
    CHECK_EQUAL(trimmed.rows.ny, 512);
    CHECK(trimmed.rows.nz > 2 && trimmed.rows.nz < 100);
    const Whole flat = whole_of(true, {16384, 8192}, "D2Q37");
    const Interior few = flat.interior_of({{0, 0, 0}, {8192, 8192, 1}, 0, "cuda:0"});
    CHECK_EQUAL(few.rows.nz, 1);
    CHECK(few.rows.ny > 10 && few.rows.ny < 4096);
}

TEST(interior_is_empty_where_cut_rows_are_short_or_blocks_are_thin) {
    const Whole periodic = whole_of(true), walls = whole_of(false);
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

TEST(interior_ends_of_rows_are_gathered_where_both_sides_look_for_them) {
    for (const char* stencil : {"D2Q37", "D3Q19"}) {
        lbm::engine::Setup setup = tests::small_setup(stencil);
        const bool heated = setup.stencil == "D3Q19";
        if (!heated) {
            setup.collision = "thermal-bgk";
            setup.streaming = "two-lattice";
        }
        setup.shape = heated ? std::vector<int>{20, 5, 4} : std::vector<int>{20, 9};
        setup.faces.assign(2 * setup.shape.size(), "periodic");
        if (heated) {
            setup.thermal.emplace();
            setup.thermal->diffusivity = 0.05;
        }
        BlockSpec spec = lbm::engine::block_spec(setup);
        CHECK_EQUAL(lbm::backend::end_columns(spec, lbm::backend::Device::Gpu).depth, 0);
        spec.cuts_rows = true;
        CHECK_EQUAL(lbm::backend::end_columns(spec, lbm::backend::Device::Cpu).depth, 0);
        lbm::engine::BlockPlacement from{{0, 0, 0}, lbm::backend::block_address(spec, lbm::backend::Device::Gpu)};
        from.columns = lbm::backend::end_columns(spec, lbm::backend::Device::Gpu);
        const Address& a = from.address;
        CHECK_EQUAL(from.columns.depth, heated ? 1 : 3);
        const auto end = Index(lbm::backend::lattice_bytes(spec, lbm::backend::Device::Gpu) / sizeof(double));
        std::vector<int> taken(std::size_t(end), 0);
        for (int slot = 0; slot < from.columns.slots; ++slot) {
            const Index own = heated ? a.temperature + slot * a.temperature_stride : slot * a.population_stride;
            for (int x = 0; x < a.nx; ++x) {
                const Index first = from.columns.place(a, a.row(0, 0, 0) + own + x);
                const bool at_end = x < from.columns.depth || x >= a.nx - from.columns.depth;
                CHECK_EQUAL(first >= 0, at_end);
                for (int y = 0; at_end && y < a.ny; ++y) {
                    const Index place = from.columns.place(a, a.row(y, 0, 0) + own + x);
                    CHECK_EQUAL(place, first + y);
                    CHECK(place >= from.columns.first && place < end);
                    ++taken[std::size_t(place)];
                }
            }
        }
        for (const int times : taken) {
            CHECK(times <= 1);
        }
        // A copy along rows goes through a column, any other does not.
        const std::vector<lbm::Phase> phases = lbm::backend::phases_of(spec);
        lbm::backend::ByPhase<std::vector<lbm::backend::CopyRun>> copies(phases);
        const Index at = a.row(1, 0, 0) + a.temperature + 19;
        copies[phases.front()] = {{7, at, a.row_stride, a.row_stride, 3}, {7, at, 1, 1, 1}};
        const lbm::engine::GatheredCopies both(copies, phases, from);
        CHECK(both.gathers());
        const auto& gather = both.gather[phases.front()];
        const auto& pull = both.pull[phases.front()];
        CHECK_EQUAL(gather.size(), std::size_t(1));
        CHECK_EQUAL(pull.size(), std::size_t(2));
        CHECK_EQUAL(gather[0].source, at);
        CHECK_EQUAL(gather[0].source_stride, a.row_stride);
        CHECK_EQUAL(gather[0].target, pull[0].source);
        CHECK_EQUAL(gather[0].target_stride, Index(1));
        CHECK_EQUAL(pull[0].source_stride, Index(1));
        CHECK_EQUAL(pull[0].target_stride, a.row_stride);
        CHECK_EQUAL(pull[1].source, at);
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
