// Times copies between the memories of two devices.
#include "link_bandwidth.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "cuda/memory_route.h"
#include "devices.h"

namespace lbm::backend {
namespace {

constexpr std::size_t little = 4096;

/// The best time of some repeats, after a first run that does not count because it touches the memory.
template <class Copy>
double best_seconds(int repeats, const Copy& copy) {
    using Clock = std::chrono::steady_clock;
    double best = std::numeric_limits<double>::max();
    for (int k = 0; k <= repeats; ++k) {
        const auto start = Clock::now();
        copy();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        best = k == 0 ? best : std::min(best, seconds);
    }
    return best;
}

template <class Copy>
LinkBandwidth measured(std::size_t bytes, int repeats, const Copy& copy) {
    const double few = best_seconds(repeats, [&] { copy(little); });
    const double many = best_seconds(repeats, [&] { copy(bytes); });
    // The clock may be too coarse to distinguish the two.
    return {few, double(bytes) / (many > few ? many - few : many)};
}

}  // namespace

LinkBandwidth link_bandwidth(const std::string& from, const std::string& to, std::size_t bytes, int repeats) {
    const int source = gpu_number(from), target = gpu_number(to);
    constexpr std::size_t most = std::size_t(1) << 32;
    if (bytes < 2 * little || bytes > most || repeats < 1) {
        throw std::invalid_argument("link_bandwidth: " + std::to_string(bytes) + " bytes and " +
                                    std::to_string(repeats) + " repeats given, must be " + std::to_string(2 * little) +
                                    " to " + std::to_string(most) + " and at least 1");
    }
    if (source >= 0 || target >= 0) {
        const cuda::MemoryRoute route(source, target, bytes);
        return measured(bytes, repeats, [&](std::size_t part) { route.copy(part); });
    }
    std::vector<std::byte> have(bytes), want(bytes);
    return measured(bytes, repeats, [&](std::size_t part) {
        // A byte changes each time and is checked, so that the compiler cannot omit the copy.
        have[part - 1] = std::byte(std::to_integer<int>(want[part - 1]) + 1);
        std::memcpy(want.data(), have.data(), part);
        if (want[part - 1] != have[part - 1]) {
            throw std::runtime_error("link_bandwidth: a copy within the host's memory failed");
        }
    });
}

}  // namespace lbm::backend
