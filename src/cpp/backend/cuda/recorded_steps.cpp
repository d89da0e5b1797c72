// Captures, instantiates and launches CUDA graphs.
#include "recorded_steps.h"

#include "../remote_block.h"

namespace lbm::cuda {
namespace {

constexpr int end_slot = backend::EventSource::end_slot;

const StreamEvent& end_of(const StepStreams& streams) { return *streams.events()[std::size_t(end_slot)]; }

}  // namespace

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
    recorded_.record([&] {
        lead();
        work();
        follow();
    });
}

void StepRecorder::replay(Index times) {
    follow();
    recorded_.replay(times);
    lead();
}

void StepRecorder::lead() const {
    first_.record_main(end_slot);
    first_.all_after(end_of(first_));
    for (StepStreams* other : others_) {
        other->all_after(end_of(first_));
    }
}

void StepRecorder::follow() const {
    first_.join();
    for (StepStreams* other : others_) {
        other->record_event(end_slot);
        first_.all_after(end_of(*other));
    }
}

}  // namespace lbm::cuda
