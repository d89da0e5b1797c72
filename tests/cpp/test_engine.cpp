// Tests of whole runs: every stencil, collision, streaming and storage, with all conditions and bodies.
#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "../../src/cpp/backend/cpu/kernels.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::engine::Engine;
using lbm::engine::Setup;

const std::vector<std::vector<std::string>> conditions = {
    {"periodic", "periodic", "periodic"},
    {"no-slip", "no-slip/moving-wall", "free-slip/no-slip"},
    {"velocity-inlet/pressure-outlet", "no-slip/free-slip", "periodic"},
    {"velocity-inlet/outflow", "free-slip/moving-wall", "pressure-outlet/outflow"}};

/// Calls with a setup of every stencil, collision and pair of numbers, and the conditions in turn.
template <class Check>
void for_setups(Check&& check) {
    std::size_t turn = 0;
    for (const std::string& stencil : tests::isothermal_stencils) {
        for (const std::string& collision : lbm::engine::collision_names(stencil)) {
            for (const tests::Numbers& numbers : tests::all_numbers) {
                Setup setup = tests::small_setup(stencil);
                setup.collision = collision;
                setup.precision = numbers.precision;
                setup.storage = numbers.storage;
                setup.faces = tests::faces_of(int(setup.shape.size()), conditions[turn++ % conditions.size()]);
                check(setup);
            }
        }
    }
}

std::string words(const Setup& s) {
    std::string text =
        s.stencil + " " + s.collision + " " + s.precision + " " + s.storage + " " + s.streaming + " " + s.device.isa;
    for (const std::string& face : s.faces) {
        text += " " + face;
    }
    return text;
}

void prepare(Engine& engine) {
    tests::add_body(engine, false);
    tests::add_body(engine, true);
    engine.set_force(std::vector<double>(std::size_t(engine.domain().D), 1e-5));
    tests::disturb(engine);
}

std::vector<double> populations_after(const Setup& setup, int steps) {
    Engine engine(setup);
    prepare(engine);
    engine.step(steps);
    std::vector<double> populations = tests::populations_of(engine);
    for (const double f : populations) {
        if (!std::isfinite(f)) {
            check::fail(__FILE__, __LINE__, "a population is not finite: ", words(setup));
        }
    }
    return populations;
}

void require_same(const Setup& a, const Setup& b, int steps) {
    if (populations_after(a, steps) != populations_after(b, steps)) {
        check::fail(__FILE__, __LINE__, words(a), " differs from ", words(b));
    }
}

/// Two blocks along each axis that is long enough, the second ones first.
std::vector<lbm::engine::Block> eight_blocks(const std::vector<int>& shape) {
    std::vector<lbm::engine::Block> blocks;
    for (int k = 7; k >= 0; --k) {
        lbm::engine::Block block{{0, 0, 0}, {1, 1, 1}, 0, "cpu"};
        bool there = true;
        for (int d = 0; d < 3; ++d) {
            const int n = d < int(shape.size()) ? shape[std::size_t(d)] : 1;
            const int first = (n + 1) / 2, part = k >> d & 1;
            block.offset[d] = part == 0 ? 0 : first;
            block.size[d] = part == 0 ? first : n - first;
            there = there && block.size[d] > 0;
        }
        if (there) {
            blocks.push_back(block);
        }
    }
    return blocks;
}

}  // namespace

TEST(engine_blocks_change_no_bit_of_the_fluid) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        for (const char* streaming : {"in-place", "two-lattice"}) {
            for (const char* face : {"periodic", "no-slip", "outflow", "free-slip"}) {
                Setup one = tests::small_setup(stencil);
                one.streaming = streaming;
                one.faces.assign(2 * one.shape.size(), face);
                Setup many = one;
                many.blocks = eight_blocks(one.shape);
                std::vector<double> density[2];
                for (int k = 0; k < 2; ++k) {
                    Engine engine(k == 0 ? one : many);
                    prepare(engine);
                    engine.step(5);
                    density[k] = tests::density_of(engine);
                }
                CHECK(density[0] == density[1]);
            }
        }
    }
}

TEST(engine_both_streamings_give_the_same_bits) {
    for_setups([](const Setup& setup) {
        for (const int steps : {3, 4}) {
            Setup other = setup;
            other.streaming = "two-lattice";
            require_same(setup, other, steps);
        }
    });
}

TEST(engine_every_instruction_set_gives_the_same_bits) {
    for_setups([](const Setup& setup) {
        Setup baseline = setup;
        baseline.device.isa = "baseline";
        for (const std::string& isa : lbm::cpu::usable_isas()) {
            Setup other = setup;
            other.device.isa = isa;
            require_same(baseline, other, 3);
        }
    });
}

TEST(engine_every_number_of_threads_gives_the_same_bits) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        Setup setup = tests::small_setup(stencil);
        setup.faces = tests::faces_of(int(setup.shape.size()), conditions[3]);
        setup.device.threads = 1;
        for (const int threads : {2, 3, 7}) {
            Setup other = setup;
            other.device.threads = threads;
            require_same(setup, other, 5);
        }
    }
}

TEST(engine_continues_from_its_state_bit_for_bit) {
    for_setups([](const Setup& given) {
        for (const std::string& streaming : tests::all_streamings) {
            Setup setup = given;
            setup.streaming = streaming;
            Engine first(setup);
            prepare(first);
            first.step(3);
            const auto saved = tests::state_of(first);
            first.step(3);

            Engine second(setup);
            prepare(second);
            second.set_state(saved.data());
            CHECK(tests::state_of(second) == saved);
            second.step(3);
            if (tests::state_of(first) != tests::state_of(second)) {
                check::fail(__FILE__, __LINE__, words(setup), " continues differently");
            }
        }
    });
}

TEST(engine_small_and_odd_sizes_run) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        for (const std::vector<int>& shape : {std::vector{1, 1, 1}, {2, 3, 1}, {16, 1, 2}, {17, 2, 3}, {65, 3, 2}}) {
            for (const auto& by_axis : conditions) {
                for (const std::string& streaming : tests::all_streamings) {
                    Setup setup = tests::small_setup(stencil);
                    setup.shape.assign(shape.begin(), shape.begin() + std::ptrdiff_t(setup.shape.size()));
                    setup.faces = tests::faces_of(int(setup.shape.size()), by_axis);
                    setup.streaming = streaming;
                    Engine engine(setup);
                    tests::disturb(engine);
                    engine.step(3);
                    for (const double density : tests::density_of(engine)) {
                        CHECK(std::isfinite(density));
                    }
                    CHECK_EQUAL(engine.steps(), 3);
                }
            }
        }
    }
}

TEST(engine_closed_domains_keep_their_mass) {
    for_setups([](const Setup& given) {
        if (given.storage != "float64") {
            return;
        }
        Setup setup = given;
        setup.faces = tests::faces_of(int(setup.shape.size()), {"no-slip", "no-slip/moving-wall", "free-slip"});
        Engine engine(setup);
        tests::add_body(engine, false);
        tests::disturb(engine);
        const double mass = engine.totals().mass;
        engine.step(20);
        CHECK_CLOSE(engine.totals().mass, mass, 1e-12 * mass);
    });
}

TEST(engine_periodic_domains_keep_their_momentum) {
    for_setups([](const Setup& given) {
        if (given.storage != "float64") {
            return;
        }
        Setup setup = given;
        setup.faces.clear();
        Engine engine(setup);
        tests::disturb(engine);
        const lbm::backend::Totals before = engine.totals();
        engine.step(20);
        const lbm::backend::Totals after = engine.totals();
        for (int d = 0; d < engine.domain().D; ++d) {
            CHECK_CLOSE(after.momentum[d], before.momentum[d], 1e-12);
        }
        CHECK(after.energy < before.energy);
    });
}

TEST(engine_force_pushes_the_fluid_and_a_field_of_it_does_the_same) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        Setup setup = tests::small_setup(stencil);
        Engine uniform(setup);
        Engine field(setup);
        const int D = uniform.domain().D;
        const auto cells = std::size_t(uniform.domain().cells());
        uniform.set_force(std::vector<double>(std::size_t(D), 1e-4));
        field.set_force(std::vector<double>(std::size_t(D) * cells, 1e-4));
        uniform.initialize(nullptr, nullptr, false);
        field.initialize(nullptr, nullptr, false);
        const double before = uniform.totals().momentum[0];
        uniform.step(10);
        field.step(10);
        CHECK_CLOSE(uniform.totals().momentum[0] - before, 10 * 1e-4 * double(cells), 1e-13 * double(cells));
        CHECK(tests::state_of(uniform) == tests::state_of(field));
        uniform.set_force({});
        const double coasting = uniform.totals().momentum[0];
        uniform.step(5);
        CHECK_CLOSE(uniform.totals().momentum[0], coasting, 1e-13 * double(cells));
    }
}

TEST(engine_scaled_force_has_the_factor_of_each_step) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        Setup setup = tests::small_setup(stencil);
        Engine uniform(setup);
        Engine field(setup);
        Engine assigned(setup);
        const int D = uniform.domain().D;
        const auto cells = std::size_t(uniform.domain().cells());
        const std::vector<double> part(std::size_t(D) * cells, 1e-4), factors{0.5, -1, 2, 0.25, 1};
        uniform.scale_force(1, part.data(), nullptr, factors[0], factors[0]);
        field.scale_force(1, nullptr, part.data(), factors[0], factors[0]);
        CHECK_THROWS(std::logic_error, "none given", uniform.step(1));
        const auto set_force = [&](int step) {
            assigned.set_force(std::vector<double>(std::size_t(D), 1e-4 * factors[std::size_t(step)]));
        };
        set_force(0);
        for (Engine* engine : {&uniform, &field, &assigned}) {
            engine->initialize(nullptr, nullptr, false);
        }
        CHECK_EQUAL(uniform.totals().momentum[0], assigned.totals().momentum[0]);
        std::vector<double> table;
        for (const double factor : factors) {
            table.insert(table.end(), {7, factor});  // the other one is of nothing
        }
        uniform.set_factors(0, 2, table);
        field.set_factors(0, 2, table);
        uniform.step(4);
        field.step(4);
        for (int step = 0; step < 4; ++step) {
            assigned.step(1);
            set_force(step + 1);
        }
        for (Engine* engine : {&uniform, &field}) {
            CHECK(tests::state_of(*engine) == tests::state_of(assigned));
            CHECK_EQUAL(engine->totals().momentum[0], assigned.totals().momentum[0]);
            engine->set_force({});
            engine->step(1);  // takes no factors
        }
    }
}

TEST(engine_eddy_viscosity_runs_with_every_collision) {
    for_setups([](const Setup& given) {
        Setup setup = given;
        setup.parameters["smagorinsky"] = 0.17;
        populations_after(setup, 3);
    });
}

TEST(engine_initialises_to_what_it_is_told) {
    for_setups([](const Setup& setup) {
        Engine engine(setup);
        const auto cells = std::size_t(engine.domain().cells());
        const std::vector<double> density(cells, 1.01);
        const std::vector<double> velocity(cells * std::size_t(engine.domain().D), 0.02);
        engine.initialize(density.data(), velocity.data(), false);
        const double tolerance = setup.storage == "float16" ? 2e-4 : setup.storage == "float32" ? 1e-6 : 1e-14;
        for (const double rho : tests::density_of(engine)) {
            CHECK_CLOSE(rho, 1.01, tolerance);
        }
        for (const double u : tests::velocity_of(engine)) {
            CHECK_CLOSE(u, 0.02, tolerance);
        }
        const std::vector<double> populations = tests::populations_of(engine);
        engine.set_populations(populations.data());
        CHECK(tests::populations_of(engine) == populations);
        std::vector<float> narrow(cells);
        engine.density(narrow.data());
        CHECK_CLOSE(double(narrow.front()), 1.01, 2e-4);
    });
}

TEST(engine_forces_on_bodies_balance_the_momentum_of_the_fluid) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        Engine engine(tests::small_setup(stencil));
        tests::add_body(engine, false);
        tests::add_body(engine, true);
        tests::disturb(engine);
        engine.step(3);
        const double center[3] = {0, 0, 0.5};
        double on_bodies[3] = {};
        for (int body = 0; body < engine.bodies(); ++body) {
            const lbm::backend::ForceAndTorque sum = engine.body_force(body, center);
            for (int d = 0; d < 3; ++d) {
                on_bodies[d] += sum.force[d];
            }
        }
        const lbm::backend::Totals before = engine.totals();
        engine.step(1);
        const lbm::backend::Totals after = engine.totals();
        for (int d = 0; d < engine.domain().D; ++d) {
            CHECK_CLOSE(after.momentum[d] - before.momentum[d], -on_bodies[d], 1e-12);
        }
    }
}

TEST(engine_forces_on_walls_and_bodies_balance_the_momentum_of_the_fluid) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        Setup setup = tests::small_setup(stencil);
        const int D = int(setup.shape.size());
        setup.faces = tests::faces_of(D, {"no-slip", "no-slip/moving-wall", "moving-wall/no-slip"});
        Engine engine(setup);
        tests::add_body(engine, true);
        tests::disturb(engine);
        const double center[3] = {0, 0, 0.5};
        const auto sampler = engine.add_face_force_sampler(3, center, 1, 0);
        engine.step(3);
        double taken[3] = {};
        for (int face = 0; face <= 2 * D; ++face) {
            const lbm::backend::ForceAndTorque sum =
                face < 2 * D ? engine.face_force(face, center) : engine.body_force(0, center);
            for (int d = 0; d < 3; ++d) {
                taken[d] += sum.force[d];
            }
        }
        const lbm::backend::ForceAndTorque last = engine.face_force(3, center);
        const std::vector<double> sampled = sampler->take().values;
        CHECK_EQUAL(sampled.size(), std::size_t(3 * 6));
        CHECK(std::equal(sampled.end() - 6, sampled.end() - 3, last.force));
        const lbm::backend::Totals before = engine.totals();
        engine.step(1);
        const lbm::backend::Totals after = engine.totals();
        for (int d = 0; d < D; ++d) {
            CHECK_CLOSE(after.momentum[d] - before.momentum[d], -taken[d], 1e-12);
        }
    }
    Setup open = tests::small_setup("D3Q19");
    open.faces = tests::faces_of(3, {"periodic", "no-slip/moving-wall", "periodic"});
    Engine engine(open);
    const double center[3] = {0, 0, 0};
    CHECK_THROWS(std::invalid_argument, "face -x: no wall", engine.face_force(0, center));
}

TEST(engine_bodies_take_new_velocities_and_show_them) {
    Engine engine(tests::small_setup("D3Q19"));
    tests::add_body(engine, false);
    tests::add_body(engine, true);
    engine.set_body_velocity(1, {0.02, 0.0, 0.0});
    engine.step(2);
    const lbm::Index at = engine.domain().cell(12, 2, 2);
    CHECK_EQUAL(tests::velocity_of(engine)[std::size_t(at)], 0.02);
    CHECK_EQUAL(tests::density_of(engine)[std::size_t(at)], 1.0);
    CHECK_THROWS(std::invalid_argument, "only a body", engine.set_body_velocity(0, {0.1, 0.0, 0.0}));
    CHECK_THROWS(std::invalid_argument, "before the first step", tests::add_body(engine, false));
}

TEST(engine_refuses_what_does_not_fit_its_domain) {
    Setup setup = tests::small_setup("D3Q19");
    setup.faces = tests::faces_of(3, {"periodic", "no-slip/moving-wall", "periodic"});
    Engine engine(setup);
    tests::add_body(engine, false);
    CHECK_THROWS(std::invalid_argument, "overlaps", tests::add_body(engine, false));
    CHECK_THROWS(std::invalid_argument, "face 0 takes no velocity", engine.set_face_velocity(0, {0.1, 0.0, 0.0}));
    CHECK_THROWS(std::invalid_argument, "face 3 takes no density", engine.set_face_number(3, {1.0}, "density"));
    CHECK_THROWS(std::invalid_argument, "face 6 takes no", engine.set_face_number(6, {1.0}));
    CHECK_THROWS(std::invalid_argument, "face -1 takes no", engine.set_face_velocity(-1, {1.0}));
}

TEST(engine_finds_the_extremes_of_its_cells) {
    for (const std::string& stencil : tests::isothermal_stencils) {
        Engine engine(tests::small_setup(stencil));
        const lbm::backend::Extremes rest = engine.extremes();
        CHECK(rest.speed2 == 0 && rest.lowest == 0 && rest.highest == 0 && std::isinf(rest.invalid));
        std::vector<double> populations = tests::populations_of(engine);
        const lbm::Index at = engine.domain().cell(7, 2, engine.domain().size[2] - 1);
        const lbm::Index fast = engine.domain().cell(3, 1, 0);
        populations[std::size_t(fast)] += 0.25;  // of those at rest
        engine.set_populations(populations.data());
        CHECK_CLOSE(engine.extremes().highest, 0.25, 1e-6);
        CHECK(engine.extremes().lowest == 0 && std::isinf(engine.extremes().invalid));
        populations[std::size_t(fast + engine.domain().known.cells())] += 0.25;  // of those that move
        populations[std::size_t(at)] = std::numeric_limits<double>::quiet_NaN();
        engine.set_populations(populations.data());
        const lbm::backend::Extremes found = engine.extremes();
        CHECK(found.invalid == double(at));
        CHECK(found.fastest == double(fast));
        CHECK_CLOSE(found.speed2, found.speed2 > 0 ? 0.25 * 0.25 / (1.5 * 1.5) : 1, 1e-6);
    }
}

TEST(engine_measures_the_change_of_its_velocity) {
    Engine engine(tests::small_setup("D2Q9"));
    tests::disturb(engine);
    CHECK(std::isinf(engine.velocity_change()));
    CHECK_EQUAL(engine.velocity_change(), 0.0);
    engine.step(1);
    CHECK(engine.velocity_change() > 0);
}

TEST(engine_threads_of_a_program_step_engines_side_by_side_and_take_turns_at_one) {
    const auto made = [] {
        auto engine = std::make_unique<Engine>(tests::small_setup("D3Q19"));
        tests::disturb(*engine);
        return engine;
    };
    const std::unique_ptr<Engine> alone = made(), shared = made();
    const std::unique_ptr<Engine> own[2] = {made(), made()};
    alone->step(10);
    const auto expected = tests::state_of(*alone);
    std::vector<std::thread> threads;
    for (const std::unique_ptr<Engine>& engine : own) {
        threads.emplace_back([&shared, &engine = *engine] {
            for (int k = 0; k < 5; ++k) {
                engine.step(2);
                const std::lock_guard<lbm::process::Mutex> turn(shared->mutex());
                shared->step(1);
                tests::density_of(*shared);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::unique_ptr<Engine>& engine : own) {
        CHECK(tests::state_of(*engine) == expected);
    }
    CHECK(tests::state_of(*shared) == expected);
}

TEST(engine_counts_its_steps_and_its_memory) {
    Engine engine(tests::small_setup("D3Q27"));
    engine.step(2);
    engine.set_steps(100);
    engine.step(1);
    CHECK_EQUAL(engine.steps(), 101);
    constexpr lbm::Index most = lbm::engine::max_steps, huge = std::numeric_limits<lbm::Index>::max();
    for (const lbm::Index steps : {lbm::Index(-1), most - 100, huge - 100, huge}) {
        CHECK_THROWS(std::invalid_argument, "at most 2^53", engine.step(steps));
    }
    for (const lbm::Index steps : {lbm::Index(-1), most + 1, huge}) {
        CHECK_THROWS(std::invalid_argument, "steps: ", engine.set_steps(steps));
    }
    CHECK_EQUAL(engine.steps(), 101);
    CHECK(engine.bytes() >= Engine::memory_needed(tests::small_setup("D3Q27")).at("cpu"));
    CHECK(engine.phase_times().update > 0);
    CHECK_EQUAL(engine.phase_times().exchange, 0.0);
    CHECK_EQUAL(engine.device().threads, 2);
    CHECK_EQUAL(engine.layout().blocks().size(), 1U);
}
