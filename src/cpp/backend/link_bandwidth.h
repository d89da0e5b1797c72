// Measures the latency and the bandwidth of copies between two devices, made as in the halo exchange.
#pragma once

#include <cstddef>
#include <string>

namespace lbm::backend {

struct LinkBandwidth {
    double seconds_of_little;  // time of a copy of 4 KiB
    double bytes_per_second;   // asymptotic rate of larger copies
};

/// Times copies of `bytes` and of 4 KiB, each waited for, and takes the best of `repeats`. The target device copies if
/// it reaches the source's memory; otherwise copies go through host memory. Throws std::invalid_argument for unknown
/// devices, and for sizes and repeats out of range.
LinkBandwidth link_bandwidth(const std::string& from, const std::string& to, std::size_t bytes, int repeats);

}  // namespace lbm::backend
