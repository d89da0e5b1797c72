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

    /// Times the stages if they are done when they return.
    explicit StepSchedule(bool timed) : timed_(timed) {}

    void add(std::string name, std::function<void()> run) { stages_.push_back({std::move(name), std::move(run)}); }

    void run_step() {
        for (Stage& stage : stages_) {
            if (!timed_) {
                stage.run();
                continue;
            }
            const auto start = std::chrono::steady_clock::now();
            stage.run();
            stage.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
    }

    bool timed() const { return timed_; }
    const std::vector<Stage>& stages() const { return stages_; }

private:
    bool timed_;
    std::vector<Stage> stages_;
};

}  // namespace lbm::engine
