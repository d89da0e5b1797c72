// The names of types as source texts spell them, for kernels that are compiled at run time.
#pragma once

#include <string>

/// The compiler's own word, so that no list of names is needed. It leaves out the namespaces that the type shares with
/// the function, which is outside of all therefore.
template <class T>
std::string lbm_spelled() {
    const std::string text = __PRETTY_FUNCTION__, start = "T = ";
    const std::size_t first = text.find(start) + start.size();
    return text.substr(first, text.find_first_of(";]", first) - first);
}

namespace lbm::backend {

template <class T>
std::string spelled() {
    return ::lbm_spelled<T>();
}

}  // namespace lbm::backend
