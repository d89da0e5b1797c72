// The headers from which kernels are compiled at run time, embedded in the library.
#pragma once

#include <vector>

namespace lbm::run_time {

struct EmbeddedHeader {
    const char* path;  // relative to src/cpp
    const char* text;
};

/// Those that kernels for GPUs are compiled from.
const std::vector<EmbeddedHeader>& embedded_headers();
/// Those that kernels of a custom collision, for GPUs and CPUs, are compiled from in addition.
const std::vector<EmbeddedHeader>& embedded_custom_headers();

}  // namespace lbm::run_time
