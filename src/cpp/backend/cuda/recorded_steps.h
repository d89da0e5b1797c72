// A few steps recorded once as a CUDA graph and replayed: small blocks would otherwise wait for launches.
#pragma once

#include <functional>

#include "../../lattice/portability.h"
#include "device.h"

namespace lbm::cuda {

class RecordedSteps {
public:
    explicit RecordedSteps(int ordinal) : ordinal_(ordinal) {}
    ~RecordedSteps() { forget(); }
    RecordedSteps(const RecordedSteps&) = delete;
    RecordedSteps& operator=(const RecordedSteps&) = delete;

    /// Does as many of `steps` as whole recordings hold, recording `step` first if need be; returns how many that is.
    /// The state must be where it was when the recording began. `lead` makes the other streams that steps use wait for
    /// `stream`, `follow` makes it wait for them.
    Index replay(const WorkStream& stream, Index steps, const std::function<void()>& step,
                 const std::function<void()>& lead, const std::function<void()>& follow);

    /// What was recorded is of no use any more: an address or an argument has changed.
    void forget();

private:
    static constexpr Index length = 16;  // even: streaming in place repeats every other step

    void record(const WorkStream& stream, const std::function<void()>& step, const std::function<void()>& lead,
                const std::function<void()>& follow);

    int ordinal_;
    GraphExec graph_ = nullptr;
};

}  // namespace lbm::cuda
