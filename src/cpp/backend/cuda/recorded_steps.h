// Records work enqueued in streams as a CUDA graph, and the recorder that does so with the streams of several blocks.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "../recorder.h"
#include "device.h"
#include "step_streams.h"

namespace lbm::cuda {

/// A CUDA graph of the work enqueued in one stream, and in other streams between events by which they wait for this
/// stream and it waits for them.
class RecordedWork {
public:
    explicit RecordedWork(const WorkStream& stream) : stream_(stream) {}
    ~RecordedWork() { forget(); }
    RecordedWork(const RecordedWork&) = delete;
    RecordedWork& operator=(const RecordedWork&) = delete;

    void record(const std::function<void()>& work);
    void replay(Index times) const;

private:
    void forget();

    const WorkStream& stream_;
    GraphExec graph_ = nullptr;
};

/// Records the work of blocks through their streams, which must outlive it, and replays it on the first block's main
/// stream.
class StepRecorder final : public backend::Recorder {
public:
    StepRecorder(StepStreams& first, std::vector<StepStreams*> others)
        : first_(first), others_(std::move(others)), recorded_(first.main()) {}

    void record(const std::function<void()>& work) override;
    void replay(Index times) override;

private:
    StepStreams& first_;
    std::vector<StepStreams*> others_;
    RecordedWork recorded_;
};

}  // namespace lbm::cuda
