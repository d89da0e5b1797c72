// The headers from which kernels are compiled at run time, embedded in the library.
#pragma once

#include <vector>

namespace lbm::cuda {

struct EmbeddedHeader {
    const char* path;  // relative to src/cpp
    const char* text;
};

/// Of the kernels for GPUs.
const std::vector<EmbeddedHeader>& embedded_headers();
/// What kernels of a user's collision need beside those, for CPUs too.
const std::vector<EmbeddedHeader>& embedded_custom_headers();

}  // namespace lbm::cuda
