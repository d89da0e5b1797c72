// Capture and launch of CUDA graphs.
#include "recorded_steps.h"

namespace lbm::cuda {

Index RecordedSteps::replay(const WorkStream& stream, Index steps, const std::function<void()>& step,
                            const std::function<void()>& lead, const std::function<void()>& follow) {
    if (steps < 2 * length && (graph_ == nullptr || steps < length)) {
        return 0;
    }
    Index done = 0;
    if (graph_ == nullptr) {
        // Once for real: kernels are compiled and loaded at their first launch, which a capture does not allow.
        for (; done < length; ++done) {
            step();
        }
        record(stream, step, lead, follow);
    }
    follow();
    {
        const DeviceScope scope(ordinal_);
        for (; done + length <= steps; done += length) {
            driver().check(driver().graph_launch(graph_, stream.get()), "cuGraphLaunch");
        }
    }
    lead();
    return done;
}

void RecordedSteps::record(const WorkStream& stream, const std::function<void()>& step,
                           const std::function<void()>& lead, const std::function<void()>& follow) {
    constexpr int relaxed = 2;
    const DeviceScope scope(ordinal_);
    driver().check(driver().capture_begin(stream.get(), relaxed), "cuStreamBeginCapture");
    lead();
    for (Index k = 0; k < length; ++k) {
        step();
    }
    follow();
    Graph graph = nullptr;
    driver().check(driver().capture_end(stream.get(), &graph), "cuStreamEndCapture");
    constexpr unsigned long long with_priorities = 8;  // of the streams that kernels were recorded from
    const int result = driver().graph_instantiate(&graph_, graph, with_priorities);
    driver().graph_destroy(graph);
    driver().check(result, "cuGraphInstantiate");
}

void RecordedSteps::forget() {
    if (graph_ != nullptr) {
        give_back_on(ordinal_, [this] { driver().graph_exec_destroy(graph_); });
        graph_ = nullptr;
    }
}

}  // namespace lbm::cuda
