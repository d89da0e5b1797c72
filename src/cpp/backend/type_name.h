// The names of types as source texts spell them, for kernels that are compiled at run time.
#pragma once

#include <string>

namespace lbm::backend {

/// The compiler's own word, so that no list of names is needed.
template <class T>
std::string spelled() {
    const std::string text = __PRETTY_FUNCTION__, start = "T = ";
    const std::size_t first = text.find(start) + start.size();
    return text.substr(first, text.find_first_of(";]", first) - first);
}

}  // namespace lbm::backend
