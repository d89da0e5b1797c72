// The stages of one step, in order, and the time that each has taken.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lbm::engine {

class StepSchedule {
public:
    struct Stage {
        std::string name;
        std::function<void()> run;
        double seconds = 0;
    };

    void add(std::string name, std::function<void()> run) { stages_.push_back({std::move(name), std::move(run)}); }

    void run_step() {
        for (Stage& stage : stages_) {
            const auto start = std::chrono::steady_clock::now();
            stage.run();
            stage.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
    }

    const std::vector<Stage>& stages() const { return stages_; }

private:
    std::vector<Stage> stages_;
};

}  // namespace lbm::engine
