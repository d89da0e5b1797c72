// How fast memory of one device comes to another, as the exchange of blocks brings it.
#pragma once

#include <cstddef>
#include <string>

namespace lbm::backend {

struct LinkBandwidth {
    double seconds_of_little;  // what a copy of 4 KiB takes
    double bytes_per_second;   // beyond that; bytes that arrive
};

/// Copies of `bytes` and of little, each waited for, the best of `repeats`: by the target where it reaches the source's
/// memory, else through memory of the host. Throws std::invalid_argument for names of no device, no byte or no repeat.
LinkBandwidth link_bandwidth(const std::string& from, const std::string& to, std::size_t bytes, int repeats);

}  // namespace lbm::backend
