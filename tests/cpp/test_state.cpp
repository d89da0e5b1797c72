// Tests the engine's interface for streaming patterns with a test pattern that advances two steps per launch: it must
// give the bits of the ordinary one, for every layout and over ranks.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "../../src/cpp/backend/moment_kind.h"
#include "../../src/cpp/backend/state_kind.h"
#include "check.h"
#include "configurations.h"
#include "thread_ranks.h"
#include "two_step_block.h"

namespace {

using lbm::Index;
using lbm::engine::Block;
using lbm::engine::Engine;
using lbm::engine::Setup;

constexpr int menu_of_steps[] = {1, 2, 5, 4, 3};  // odd and even, in a row

/// The places along an axis where a domain is cut, its ends among them.
using Cuts = std::vector<int>;

std::vector<Block> blocks_of(const Cuts& x, const Cuts& y, const Cuts& z, int ranks) {
    std::vector<Block> blocks;
    for (std::size_t c = 0; c + 1 < z.size(); ++c) {
        for (std::size_t b = 0; b + 1 < y.size(); ++b) {
            for (std::size_t a = 0; a + 1 < x.size(); ++a) {
                const int number = int(blocks.size());
                blocks.push_back(
                    {{x[a], y[b], z[c]}, {x[a + 1] - x[a], y[b + 1] - y[b], z[c + 1] - z[c]}, number % ranks, "cpu"});
            }
        }
    }
    return blocks;
}

Setup setup_of(const std::string& stencil, const std::vector<Block>& blocks = {}) {
    Setup setup = tests::small_setup(stencil);
    setup.shape = stencil == "D2Q9" ? std::vector{19, 11} : std::vector{11, 7, 6};
    setup.streaming = "two-lattice";
    setup.device.threads = 1;
    setup.blocks = blocks;
    return setup;
}

/// In a grid of blocks that are thick, and as thin as one cell.
std::vector<std::vector<Block>> layouts_of(const std::string& stencil, int ranks) {
    const bool plane = stencil == "D2Q9";
    const int nx = plane ? 19 : 11, ny = plane ? 11 : 7, nz = plane ? 1 : 6;
    std::vector<std::vector<Block>> all = {
        blocks_of({0, nx}, {0, 4, ny}, {0, nz}, ranks),       blocks_of({0, 5, nx}, {0, ny}, {0, nz}, ranks),
        blocks_of({0, 5, nx}, {0, 5, ny}, {0, nz}, ranks),    blocks_of({0, 1, 2, nx}, {0, 1, ny}, {0, nz}, ranks),
        blocks_of({0, 1, 2, 6, nx}, {0, ny}, {0, nz}, ranks), blocks_of({0, nx}, {0, 1, 2, 4, ny}, {0, nz}, ranks),
        blocks_of({0, 4, 9, nx}, {0, ny}, {0, nz}, ranks),
    };
    if (!plane) {
        all.push_back(blocks_of({0, nx}, {0, ny}, {0, 3, nz}, ranks));
        all.push_back(blocks_of({0, nx}, {0, 3, ny}, {0, 1, nz}, ranks));
    }
    return all;
}

void start(Engine& engine, bool forced) {
    if (forced) {
        engine.set_force(std::vector<double>(std::size_t(engine.domain().D), 1e-4));
    }
    tests::disturb(engine);
}

/// The state after each call of step().
std::vector<std::vector<double>> states_after_steps(const Setup& setup, bool forced) {
    Engine engine(setup);
    start(engine, forced);
    std::vector<std::vector<double>> states;
    for (const int steps : menu_of_steps) {
        engine.step(steps);
        const auto& box = engine.window();
        states.emplace_back(std::size_t(box.cells() * engine.state_count()));
        engine.get_state(states.back().data());
    }
    return states;
}

/// The part of a state of the whole domain that lies in a box.
std::vector<double> part_of_state(const std::vector<double>& whole, const lbm::engine::Domain& domain,
                                  const lbm::engine::Box& box) {
    std::vector<double> part;
    for (Index first = 0; first < Index(whole.size()); first += domain.cells()) {
        for (int z = 0; z < box.size[2]; ++z) {
            for (int y = 0; y < box.size[1]; ++y) {
                for (int x = 0; x < box.size[0]; ++x) {
                    const Index cell = domain.cell(box.offset[0] + x, box.offset[1] + y, box.offset[2] + z);
                    part.push_back(whole[std::size_t(first + cell)]);
                }
            }
        }
    }
    return part;
}

}  // namespace

TEST(state_kinds_are_those_of_the_list) {
    std::vector<std::string> names;
    int phases = 0;
    for (const lbm::backend::StateKind* kind : lbm::backend::state_kinds()) {
        names.emplace_back(kind->name);
        CHECK_EQUAL(int(kind->first_phase), phases);
        phases += kind->phases;
    }
    CHECK(names == tests::all_streamings);
    Setup setup = setup_of("D2Q9");
    setup.streaming = "sideways";
    CHECK_THROWS(std::invalid_argument, "'two-lattice', 'in-place'", Engine{setup});
}

TEST(state_of_two_steps_a_launch_gives_the_bits_of_the_ordinary_one) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        for (const bool forced : {false, true}) {
            Setup setup = setup_of(stencil);
            const auto expected = states_after_steps(setup, forced);
            setup.state = &tests::two_steps;
            CHECK(states_after_steps(setup, forced) == expected);
        }
    }
}

TEST(state_of_two_steps_a_launch_is_asked_for_half_as_many_updates) {
    Setup setup = setup_of("D2Q9", layouts_of("D2Q9", 1).front());
    setup.state = &tests::two_steps;
    Engine engine(setup);
    start(engine, false);
    for (const int steps : menu_of_steps) {
        const int before = tests::two_step_updates;
        engine.step(steps);
        CHECK_EQUAL(tests::two_step_updates - before, int(setup.blocks.size()) * ((steps + 1) / 2));
    }
    CHECK_EQUAL(engine.steps(), 15);
    CHECK(!engine.links().empty());
}

TEST(state_of_two_steps_a_launch_gives_the_same_bits_in_every_layout) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        const auto expected = states_after_steps(setup_of(stencil), true);
        for (const std::vector<Block>& blocks : layouts_of(stencil, 1)) {
            for (const char* schedule : {"overlap", "blocking"}) {
                for (const char* channel : {"", "staged"}) {
                    Setup setup = setup_of(stencil, blocks);
                    setup.state = &tests::two_steps;
                    setup.schedule = schedule;
                    setup.channel = channel;
                    CHECK(states_after_steps(setup, true) == expected);
                }
            }
        }
    }
}

TEST(state_of_two_steps_a_launch_gives_the_same_bits_over_ranks) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        const auto expected = states_after_steps(setup_of(stencil), false);
        for (const int ranks : {2, 3, 4}) {
            int layouts = 0;
            for (const std::vector<Block>& blocks : layouts_of(stencil, ranks)) {
                if (int(blocks.size()) != ranks) {
                    continue;  // the window of a rank would hold blocks of others
                }
                ++layouts;
                tests::ThreadRanks::run(ranks, [&](const auto& communicator) {
                    Setup setup = setup_of(stencil, blocks);
                    setup.state = &tests::two_steps;
                    setup.comm = communicator;
                    const auto found = states_after_steps(setup, false);
                    const lbm::engine::Domain domain = lbm::engine::make_domain(setup);
                    const lbm::engine::Box box =
                        lbm::engine::make_layout(setup, lbm::engine::block_spec(setup)).window(communicator->rank());
                    for (std::size_t k = 0; k < found.size(); ++k) {
                        CHECK(found[k] == part_of_state(expected[k], domain, box));
                    }
                });
            }
            CHECK(layouts > 0);
        }
    }
}

namespace {

/// In every layout and over ranks, cells that keep moments have the bits of one block in two lattices.
void check_moments(const lbm::backend::StateKind& state) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        const auto moments_in = [&](const std::vector<Block>& blocks, const lbm::backend::StateKind& kept) {
            Setup setup = setup_of(stencil, blocks);
            setup.collision = "recursive-regularized";
            setup.state = &kept;
            return setup;
        };
        const auto expected = states_after_steps(moments_in({}, lbm::backend::moment_state), true);
        CHECK(states_after_steps(moments_in({}, state), true) == expected);
        for (const std::vector<Block>& blocks : layouts_of(stencil, 1)) {
            for (const char* channel : {"", "staged"}) {
                Setup setup = moments_in(blocks, state);
                setup.schedule = "overlap";
                setup.channel = channel;
                setup.device.threads = 2;
                CHECK(states_after_steps(setup, true) == expected);
            }
        }
        for (const int ranks : {2, 3, 4}) {
            for (const std::vector<Block>& blocks : layouts_of(stencil, ranks)) {
                if (int(blocks.size()) != ranks) {
                    continue;
                }
                tests::ThreadRanks::run(ranks, [&](const auto& communicator) {
                    Setup setup = moments_in(blocks, state);
                    setup.comm = communicator;
                    const auto found = states_after_steps(setup, true);
                    const lbm::engine::Domain domain = lbm::engine::make_domain(setup);
                    const lbm::engine::Box box =
                        lbm::engine::make_layout(setup, lbm::engine::block_spec(setup)).window(communicator->rank());
                    for (std::size_t k = 0; k < found.size(); ++k) {
                        CHECK(found[k] == part_of_state(expected[k], domain, box));
                    }
                });
            }
        }
    }
}

}  // namespace

TEST(state_of_moments_gives_the_same_bits_in_every_layout_and_over_ranks) { check_moments(lbm::backend::moment_state); }

TEST(state_of_moments_in_one_lattice_gives_the_bits_of_two) { check_moments(lbm::backend::moment_state_in_place); }

TEST(state_of_two_steps_a_launch_shows_the_same_fields_and_sums) {
    Setup setup = setup_of("D3Q19");
    Engine ordinary(setup);
    setup.blocks = layouts_of("D3Q19", 1).back();
    setup.state = &tests::two_steps;
    Engine other(setup);
    for (Engine* engine : {&ordinary, &other}) {
        start(*engine, true);
        engine->step(7);
    }
    CHECK(tests::density_of(ordinary) == tests::density_of(other));
    CHECK(tests::velocity_of(ordinary) == tests::velocity_of(other));
    CHECK_CLOSE(ordinary.totals().mass, other.totals().mass, 1e-10);
    CHECK(std::isinf(other.extremes().invalid));
    const std::vector<double> populations = tests::populations_of(other);
    other.set_populations(populations.data());
    CHECK(tests::populations_of(other) == populations);
}

TEST(state_of_two_steps_a_launch_takes_no_links_that_are_served_between_steps) {
    Setup setup = setup_of("D2Q9");
    setup.state = &tests::two_steps;
    Engine engine(setup);
    CHECK_THROWS(std::invalid_argument, "takes none", tests::add_body(engine, false));
    const double force[] = {1e-5, 0};
    CHECK_THROWS(std::invalid_argument, "must not change in time", engine.scale_force(0, force, nullptr, 1, 1));
    setup.faces = tests::faces_of(2, {"periodic", "no-slip"});
    CHECK_THROWS(std::invalid_argument, "periodic faces", Engine{setup});
}

TEST(state_of_two_steps_a_launch_is_recorded_and_replayed_with_the_same_bits) {
    for (const std::vector<Block>& blocks : {std::vector<Block>{}, layouts_of("D2Q9", 1)[2]}) {
        Setup setup = setup_of("D2Q9");
        Engine ordinary(setup);
        setup.blocks = blocks;
        setup.state = &tests::two_steps;
        Engine recorded(setup);
        start(ordinary, false);
        start(recorded, false);
        const int members = std::max(1, int(blocks.size()));
        const auto step = [&](int steps) {
            const int before = tests::two_step_updates;
            ordinary.step(steps);
            recorded.step(steps);
            CHECK(tests::state_of(ordinary) == tests::state_of(recorded));
            return (tests::two_step_updates - before) / members;
        };
        CHECK_EQUAL(step(60), 30);             // too few
        CHECK_EQUAL(step(151), 16 + 16 + 12);  // once for real, once recorded; the last 12 are no whole recording
        CHECK_EQUAL(step(32), 0);              // replayed
        CHECK_EQUAL(step(3), 2);
        CHECK_EQUAL(step(70), 35 - 32);
        for (Engine* engine : {&ordinary, &recorded}) {
            engine->set_force({1e-4, -1e-4});
        }
        CHECK_EQUAL(step(32), 16);  // forgotten
        CHECK_EQUAL(step(34), 17);  // to the start of a cycle
        CHECK_EQUAL(step(64), 16 + 16);
        CHECK_EQUAL(step(64), 0);
    }
}
