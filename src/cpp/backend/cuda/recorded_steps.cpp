// Captures, instantiates and launches CUDA graphs.
#include "recorded_steps.h"

namespace lbm::cuda {
void RecordedWork::record(const std::function<void()>& work) {
    forget();
    constexpr int relaxed = 2;
    const DeviceScope scope(stream_.ordinal());
    driver().check(driver().capture_begin(stream_.get(), relaxed), "cuStreamBeginCapture");
    work();
    Graph graph = nullptr;
    driver().check(driver().capture_end(stream_.get(), &graph), "cuStreamEndCapture");
    constexpr unsigned long long with_priorities = 8;  // kernels keep the priorities of their streams
    const int result = driver().graph_instantiate(&graph_, graph, with_priorities);
    driver().graph_destroy(graph);
    driver().check(result, "cuGraphInstantiate");
}

void RecordedWork::replay(Index times) const {
    const DeviceScope scope(stream_.ordinal());
    for (Index k = 0; k < times; ++k) {
        driver().check(driver().graph_launch(graph_, stream_.get()), "cuGraphLaunch");
    }
}

void RecordedWork::forget() {
    if (graph_ != nullptr) {
        give_back_on(stream_.ordinal(), [this] { driver().graph_exec_destroy(graph_); });
        graph_ = nullptr;
    }
}

void StepRecorder::record(const std::function<void()>& work) {
    follow(first_, others_);  // nothing that is recorded may wait for work before it
    recorded_.record([&] {
        lead(first_, others_);
        work();
        follow(first_, others_);
    });
}

void StepRecorder::replay(Index times) {
    follow(first_, others_);
    recorded_.replay(times);
    lead(first_, others_);
}

}  // namespace lbm::cuda
