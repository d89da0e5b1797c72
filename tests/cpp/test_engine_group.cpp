// Tests groups of engines: each engine has the bits of its own steps, errors of one leave the others whole, and engines
// that cannot advance together are refused.
#include <memory>
#include <stdexcept>
#include <vector>

#include "../../src/cpp/engine/engine_group.h"
#include "check.h"
#include "configurations.h"

namespace {

using lbm::engine::Engine;
using lbm::engine::EngineGroup;
using lbm::engine::Setup;

Setup setup_of(int number) {
    Setup setup = tests::small_setup("D2Q9");
    setup.collision = number % 2 == 0 ? "bgk" : "trt";
    setup.faces = tests::faces_of(2, {"periodic", "no-slip"});
    return setup;
}

std::vector<std::unique_ptr<Engine>> engines_in_motion(int count) {
    std::vector<std::unique_ptr<Engine>> engines;
    for (int number = 0; number < count; ++number) {
        engines.push_back(std::make_unique<Engine>(setup_of(number)));
        tests::disturb(*engines.back());
        engines.back()->set_force({1e-5 * number, 0});
    }
    return engines;
}

std::vector<Engine*> pointers(const std::vector<std::unique_ptr<Engine>>& engines) {
    std::vector<Engine*> found;
    found.reserve(engines.size());
    for (const auto& engine : engines) {
        found.push_back(engine.get());
    }
    return found;
}

std::vector<double> populations(Engine& engine) {
    std::vector<double> values(std::size_t(engine.domain().cells() * engine.population_count()));
    engine.populations(values.data());
    return values;
}

TEST(engine_group_has_the_bits_of_engines_alone) {
    for (const int threads : {1, 2, 7}) {
        const auto together = engines_in_motion(5), alone = engines_in_motion(5);
        EngineGroup group(pointers(together), threads);
        group.step(3);
        group.step(4);
        for (std::size_t k = 0; k < alone.size(); ++k) {
            alone[k]->step(7);
            CHECK_EQUAL(together[k]->steps(), 7);
            CHECK(populations(*together[k]) == populations(*alone[k]));
        }
    }
}

TEST(engine_group_goes_on_beside_an_engine_that_fails) {
    const auto engines = engines_in_motion(3);
    engines[1]->set_steps(lbm::engine::max_steps);
    EngineGroup group(pointers(engines), 2);
    CHECK_THROWS(std::invalid_argument, "at most 2^53", group.step(2));
    CHECK_EQUAL(engines[0]->steps(), 2);
    CHECK_EQUAL(engines[2]->steps(), 2);
}

TEST(engine_group_refuses_what_cannot_advance_together) {
    CHECK_THROWS(std::invalid_argument, "none given", EngineGroup({}, 1));
    const auto engines = engines_in_motion(1);
    CHECK_THROWS(std::invalid_argument, "given twice", EngineGroup({engines[0].get(), engines[0].get()}, 1));
}

}  // namespace
