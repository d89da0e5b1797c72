// Work that streams are given recorded once as a CUDA graph, and the recorder of blocks that makes one of all streams'.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "../recorder.h"
#include "device.h"
#include "step_streams.h"

namespace lbm::cuda {

/// What one stream is given, with what other streams are that wait for it and that it waits for.
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

/// Of blocks by their streams, which must outlive it; it is the first block's that a recording is replayed on.
class StepRecorder final : public backend::Recorder {
public:
    StepRecorder(StepStreams& first, std::vector<StepStreams*> others)
        : first_(first), others_(std::move(others)), recorded_(first.main()) {}

    void record(const std::function<void()>& work) override;
    void replay(Index times) override;

private:
    /// All streams go on from here,
    void lead() const;
    /// and come to their end in the first block's.
    void follow() const;

    StepStreams& first_;
    std::vector<StepStreams*> others_;
    RecordedWork recorded_;
};

}  // namespace lbm::cuda
