// The headers that kernels are compiled from at run time, held by the library itself.
#pragma once

#include <vector>

namespace lbm::cuda {

struct EmbeddedHeader {
    const char* path;  // below src/cpp
    const char* text;
};

const std::vector<EmbeddedHeader>& embedded_headers();

}  // namespace lbm::cuda
