// Steps the engines of a group side by side.
#include "engine_group.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace lbm::engine {

EngineGroup::EngineGroup(std::vector<Engine*> engines, int threads)
    : engines_(std::move(engines)), threads_(std::max(threads, 1)) {
    if (engines_.empty()) {
        throw std::invalid_argument("engines: none given, must be one at least");
    }
    std::set<const Engine*> known;
    for (const Engine* engine : engines_) {
        if (!known.insert(engine).second) {
            throw std::invalid_argument("engines: one of them given twice");
        }
        if (engine->layout_.blocks().size() != 1 || engine->spec_.state->steps_per_launch != 1) {
            throw std::invalid_argument("engines: each must be a single block");
        }
        if (engine->layout_.blocks().front().device != engines_.front()->layout_.blocks().front().device) {
            throw std::invalid_argument("engines: on '" + engines_.front()->layout_.blocks().front().device +
                                        "' and on '" + engine->layout_.blocks().front().device +
                                        "', must be on one device");
        }
    }
}

void EngineGroup::step(Index steps) {
    if (!engines_.front()->asynchronous_.empty()) {
        do {
            Index part = steps;
            for (const Engine* engine : engines_) {
                part = engine->steps_to_sample(part);
            }
            steps -= part;
            step_on_gpu(part, steps > 0);
        } while (steps > 0);
    } else {
        step_on_cpu(steps);
    }
}

void EngineGroup::step_on_gpu(Index steps, bool more_follow) {
    for (Engine* engine : engines_) {
        engine->check_steps(steps);
        engine->check_factors(steps);
        engine->prepare();
        engine->bring_factors_to(engine->steps_);
        engine->update_halos();
    }
    divide();
    for (Engine* engine : engines_) {
        engine->is_consistent_ = false;
        engine->records_timestamps_ = false;
    }
    for (Part& part : parts_) {
        std::vector<std::function<void()>> updates;
        for (Engine* engine : part.engines) {
            updates.emplace_back([engine] { engine->run_update(1); });
        }
        part.batch->begin();
        try {
            part.executor->run(steps, [&] { part.batch->run(updates); });
        } catch (...) {  // what has been launched still works on the blocks
            part.batch->end();
            throw;
        }
        part.batch->end();
    }
    const auto goes_on = [](const Engine* engine) { return engine->goes_on_without_waiting(); };
    if (!more_follow || !std::all_of(engines_.begin(), engines_.end(), goes_on)) {
        for (Engine* engine : engines_) {
            engine->wait_for_blocks();
        }
    }
    std::exception_ptr error;
    for (Engine* engine : engines_) {
        if (more_follow) {
            engine->bring_factors_to(engine->steps_ + steps);
        } else {
            engine->bring_values_to(engine->steps_ + steps);
        }
        engine->is_consistent_ = true;
        try {
            engine->count_steps(steps);
        } catch (...) {  // of a sampler: all engines have made their steps, and count them
            error = error == nullptr ? std::current_exception() : error;
        }
    }
    if (error != nullptr) {
        std::rethrow_exception(error);
    }
}

void EngineGroup::divide() {
    // Each engine has one block.
    const auto place = [](const Engine* engine) { return engine->states_.front()->place_in_cycle(); };
    std::vector<Engine*> found[2];  // at the same place of the cycle as the first engine, and not
    for (Engine* engine : engines_) {
        found[place(engine) == place(engines_.front()) ? 0 : 1].push_back(engine);
    }
    const std::size_t count = found[1].empty() ? 1 : 2;
    if (parts_.size() == count && parts_.front().engines == found[0]) {
        return;
    }
    parts_.clear();
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<backend::BlockState*> states;
        for (const Engine* engine : found[k]) {
            states.insert(states.end(), engine->states_.begin(), engine->states_.end());
        }
        auto batch = states.front()->make_batch({states.begin() + 1, states.end()});
        if (batch == nullptr) {
            throw std::logic_error("engines: of one device, but their steps cannot be launched together");
        }
        parts_.push_back({std::move(found[k]), std::move(batch), std::make_unique<Executor>(std::move(states))});
    }
}

void EngineGroup::step_on_cpu(Index steps) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr error;
    std::mutex of_error;
    const auto work = [&] {
        for (std::size_t k = next++; k < engines_.size(); k = next++) {
            try {
                engines_[k]->step(steps);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(of_error);
                if (error == nullptr) {
                    error = std::current_exception();
                }
            }
        }
    };
    std::vector<std::thread> others;
    const std::size_t wanted = std::min(engines_.size(), std::size_t(threads_));
    try {
        while (others.size() + 1 < wanted) {
            others.emplace_back(work);
        }
    } catch (const std::system_error&) {  // the system has no more threads: those that there are do the work
    }
    work();
    for (std::thread& other : others) {
        other.join();
    }
    if (error != nullptr) {
        std::rethrow_exception(error);
    }
}

}  // namespace lbm::engine
