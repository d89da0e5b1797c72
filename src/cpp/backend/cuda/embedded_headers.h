// The headers from which kernels are compiled at run time, embedded in the library.
#pragma once

#include <vector>

namespace lbm::cuda {

struct EmbeddedHeader {
    const char* path;  // relative to src/cpp
    const char* text;
};

const std::vector<EmbeddedHeader>& embedded_headers();

}  // namespace lbm::cuda
