// Named ranges on the timeline of a profiler: NVTX, which Nsight Systems and other tools show beside the kernels.
//
// Nothing is linked. NVTX is a protocol between a program and the tool that started it: the tool names its library in
// NVTX_INJECTION64_PATH, and takes the addresses of functions that do nothing without it. Where no tool is named, the
// library of older tools, libnvToolsExt, is loaded if there is one. Without either a range costs one comparison.
#pragma once

namespace lbm::process {

/// A range from the construction of the object to its end, on the timeline of the calling thread. Ranges nest.
class ProfilerRange {
public:
    /// `name` is copied by the profiler.
    explicit ProfilerRange(const char* name);
    ~ProfilerRange();
    ProfilerRange(const ProfilerRange&) = delete;
    ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace lbm::process
