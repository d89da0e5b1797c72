// Tests of the plan of a stencil that reaches several cells, and of engines that step by it.
#include "../../src/cpp/engine/long_range_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "../../src/cpp/backend/block_layout.h"
#include "../../src/cpp/backend/moment_kind.h"
#include "../../src/cpp/engine/engine.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::Index;
using lbm::backend::CopyRun;
using lbm::engine::Block;
using lbm::engine::Engine;
using lbm::engine::LongRangePlan;
using lbm::engine::Setup;

Setup gas_setup(std::vector<int> shape, bool walls) {
    Setup setup = tests::small_setup("D2Q37");
    setup.collision = "thermal-bgk";
    setup.streaming = "two-lattice";
    setup.shape = std::move(shape);
    setup.parameters["prandtl"] = 0.7;
    setup.parameters["gravity"] = std::vector{1e-4, -2e-4};
    if (walls) {
        setup.faces = {"periodic", "periodic", "no-slip", "no-slip"};
        setup.thermal_faces = {"periodic", "periodic", "isothermal", "adiabatic"};
    }
    return setup;
}

LongRangePlan plan_of(const Setup& setup, const std::vector<Block>& blocks, lbm::backend::Device device) {
    const lbm::backend::BlockSpec whole = lbm::engine::block_spec(setup);
    std::vector<lbm::engine::BlockPlacement> placements;
    for (const Block& block : blocks) {
        const int(&at)[3] = block.offset;
        placements.push_back(
            {{at[0], at[1], at[2]}, lbm::backend::block_address(lbm::engine::part_of(whole, block), device)});
        placements.back().keeps_moments = whole.state->keeps_moments;
    }
    return {lbm::engine::make_domain(setup), placements, 0};
}

Index copied(const std::vector<CopyRun>& runs) {
    Index sum = 0;
    for (const CopyRun& run : runs) {
        sum += run.count;
    }
    return sum;
}

/// A grid of blocks, as even as can be.
std::vector<Block> grid(const std::vector<int>& shape, int px, int py) {
    std::vector<Block> blocks;
    for (int j = 0; j < py; ++j) {
        for (int i = 0; i < px; ++i) {
            const int x = shape[0] * i / px, y = shape[1] * j / py;
            blocks.push_back({{x, y, 0}, {shape[0] * (i + 1) / px - x, shape[1] * (j + 1) / py - y, 1}, 0, "cpu"});
        }
    }
    return blocks;
}

/// The populations after some steps from a smooth state.
std::vector<double> stepped(const Setup& setup) {
    Engine engine(setup);
    const lbm::engine::Domain& domain = engine.domain();
    std::vector<double> density, temperature;
    for (int y = 0; y < domain.size[1]; ++y) {
        for (int x = 0; x < domain.size[0]; ++x) {
            density.push_back(1 + 0.02 * tests::noise(1, std::uint64_t(domain.cell(x, y, 0))));
            temperature.push_back(0.7 + 0.02 * tests::noise(2, std::uint64_t(domain.cell(x, y, 0))));
        }
    }
    if (!setup.faces.empty()) {
        engine.set_face_temperature(2, {0.72});
    }
    engine.initialize(density.data(), nullptr, false, temperature.data());
    engine.step(7);
    CHECK(std::isinf(engine.extremes().invalid));
    return tests::populations_of(engine);
}

}  // namespace

TEST(long_range_plan_copies_rows_of_pairs_of_moments_as_they_lie) {
    Setup setup = tests::small_setup("D2Q9");
    setup.collision = "regularized";
    setup.state = &lbm::backend::moment_state_2d;
    setup.shape = {20, 30};
    const LongRangePlan plan = plan_of(setup, grid(setup.shape, 1, 2), lbm::backend::Device::Gpu);
    const int halo = 2 * setup.state->steps_per_launch, pairs = 3;
    CHECK(plan.copies.empty());
    CHECK_EQUAL(int(plan.imports[1].size()), pairs * halo);
    for (const CopyRun& run : plan.imports[1]) {
        CHECK_EQUAL(run.count, 2 * setup.shape[0]);
        CHECK_EQUAL(run.target_stride, 1);
        CHECK_EQUAL(run.source_stride, 1);
    }
}

TEST(long_range_plan_brings_26_populations_a_cell_of_a_face) {
    const Setup setup = gas_setup({12, 10}, false);
    const LongRangePlan plan = plan_of(setup, grid(setup.shape, 1, 2), lbm::backend::Device::Gpu);  // wrapped along x
    CHECK_EQUAL(copied(plan.copies), 0);
    CHECK_EQUAL(copied(plan.imports[1]), 2 * 26 * 12);
    CHECK(plan.columns.empty());
}

TEST(long_range_plan_makes_a_column_for_each_cell_of_a_wall) {
    const Setup setup = gas_setup({12, 10}, true);
    const LongRangePlan one = plan_of(setup, grid(setup.shape, 1, 1), lbm::backend::Device::Gpu);
    CHECK_EQUAL(one.columns.size(), std::size_t(2 * 12));
    const LongRangePlan cut = plan_of(setup, grid(setup.shape, 2, 2), lbm::backend::Device::Gpu);
    CHECK_EQUAL(cut.columns.size(), std::size_t(6 + 2 * 3));  // of the lower wall, beside the block's ends too
    // The cells before the wall beside those ends come whole, of the two rows above them what leads into the block.
    Index above = 0;
    for (const auto& c : lbm::D2Q37::c) {
        for (const int y : {3, 4}) {
            above += y + c[1] >= 0 && y + c[1] < 5 ? std::max(0, c[0]) : 0;
        }
    }
    CHECK_EQUAL(copied(cut.imports[1]), 2 * (3 * 3 * 37 + above));
}

TEST(long_range_plan_blocks_threads_and_instruction_sets_change_no_bit) {
    for (const bool walls : {false, true}) {
        for (const std::vector<int>& shape : {std::vector{19, 11}, std::vector{5, 23}}) {
            const Setup setup = gas_setup(shape, walls);
            const std::vector<double> expected = stepped(setup);
            for (const auto& [px, py] : {std::pair{2, 1}, std::pair{1, 2}, std::pair{2, 3}, std::pair{1, 6}}) {
                Setup cut = setup;
                cut.blocks = grid(shape, px, py);
                CHECK(stepped(cut) == expected);
            }
            Setup other = setup;
            other.device.threads = 1;
            other.device.isa = "baseline";
            CHECK(stepped(other) == expected);
        }
    }
}

TEST(long_range_plan_walls_keep_mass) {
    Engine engine(gas_setup({16, 12}, true));
    engine.set_face_temperature(2, {0.75});
    engine.initialize(nullptr, nullptr, false);
    const double before = engine.totals().mass;
    engine.step(500);
    CHECK_CLOSE(engine.totals().mass, before, 1e-11);
}

TEST(long_range_plan_of_a_box_has_its_corners) {
    Setup setup = gas_setup({12, 10}, false);
    setup.faces = {"no-slip", "no-slip", "no-slip", "no-slip"};
    setup.thermal_faces = {"adiabatic", "isothermal", "isothermal", "adiabatic"};
    const LongRangePlan one = plan_of(setup, grid(setup.shape, 1, 1), lbm::backend::Device::Gpu);
    CHECK_EQUAL(one.columns.size(), std::size_t(2 * 12 + 2 * 10));
    CHECK_EQUAL(one.corners.size(), std::size_t(4));
    for (const lbm::backend::WallCorner& corner : one.corners) {
        for (int axis = 0; axis < 2; ++axis) {
            const lbm::backend::WallColumn& column = one.columns[std::size_t(corner.columns[axis])];
            CHECK(column.x == corner.x && column.y == corner.y && column.wall.axis == axis);
            CHECK_EQUAL(column.wall.isothermal, corner.corner.isothermal[axis]);
            CHECK_EQUAL(column.wall.corner_heat[corner.corner.outward[1 - axis] > 0],
                        column.wall.isothermal && corner.corner.is_mixed());
        }
    }
    const LongRangePlan cut = plan_of(setup, grid(setup.shape, 2, 2), lbm::backend::Device::Gpu);
    CHECK_EQUAL(cut.columns.size(), std::size_t(6 + 3 + 5 + 3));
    CHECK_EQUAL(cut.corners.size(), std::size_t(1));
    // Blocks that begin off a wall that their halo reaches have its corners too.
    const std::vector<Block> blocks = {
        {{2, 1, 0}, {10, 9, 1}, 0, "cpu"}, {{0, 0, 0}, {12, 1, 1}, 0, "cpu"}, {{0, 1, 0}, {2, 9, 1}, 0, "cpu"}};
    CHECK_EQUAL(plan_of(setup, blocks, lbm::backend::Device::Gpu).corners.size(), std::size_t(4));
}

TEST(long_range_plan_smooths_the_temperatures_of_walls) {
    for (const bool ends : {false, true}) {
        Setup setup = gas_setup({30, 10}, false);
        const std::string face = ends ? "no-slip" : "periodic", kind = ends ? "adiabatic" : "periodic";
        setup.faces = {face, face, "no-slip", "no-slip"};
        setup.thermal_faces = {kind, kind, "isothermal", "adiabatic"};
        const LongRangePlan plan = plan_of(setup, grid(setup.shape, 1, 1), lbm::backend::Device::Gpu);
        for (std::size_t k = 0; k < plan.columns.size(); ++k) {
            const lbm::backend::WallColumn& column = plan.columns[k];
            if (!column.wall.isothermal) {
                continue;
            }
            // The sums of factors times powers of the distance: a cubic has its values and derivatives.
            const lbm::engine::WallTerms* all[] = {&plan.temperatures, &plan.gradients, &plan.curvatures};
            const bool is_near_end = ends && std::min(column.x, 29 - column.x) < 4;
            for (int derivative = 0; derivative < 3; ++derivative) {
                double sums[4] = {0, 0, 0, 0};
                int count = 0;
                all[derivative]->for_terms(k, [&](const lbm::engine::WallTerms::Term& term) {
                    int distance = int(term.place) - column.x;
                    distance += !ends && distance > 15 ? -30 : !ends && distance < -15 ? 30 : 0;
                    for (int power = 0; power < 4; ++power) {
                        sums[power] += term.factor * std::pow(distance, power);
                    }
                    ++count;
                });
                const bool is_left_out = derivative == 2 && is_near_end;
                for (int power = 0; power < (derivative == 1 ? 3 : 4); ++power) {
                    const double expected = power != derivative || is_left_out ? 0 : power == 2 ? 2 : 1;
                    CHECK_CLOSE(sums[power], expected, 1e-13);
                }
                if (!ends) {
                    CHECK_EQUAL(count, derivative == 0 ? 13 : 15);
                }
            }
        }
    }
}
