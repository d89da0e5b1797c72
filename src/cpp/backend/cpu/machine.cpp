// The number of threads, the second-level cache and the memory bandwidth of this machine.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "buffer.h"
#include "cpu_block.h"
#include "threads.h"

namespace lbm::cpu {

int default_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    const char* given = std::getenv("OMP_NUM_THREADS");  // set by batch systems for any kind of threads
    const long wanted = given == nullptr ? 0 : std::strtol(given, nullptr, 10);
    return int(std::clamp<long>(wanted > 0 ? wanted : allowed, 1, std::min(allowed, max_threads)));
}

std::size_t second_level_cache() {
    constexpr std::size_t unknown = 1 << 20;
    const std::string cache = "/sys/devices/system/cpu/cpu0/cache/index2/";
    int level = 0, kilobytes = 0;
    std::ifstream(cache + "level") >> level;
    std::ifstream(cache + "size") >> kilobytes;  // as in "2048K"
    std::ifstream list(cache + "shared_cpu_list");
    int sharing = 0;
    for (int first = 0, last = 0; list >> first; list.ignore()) {  // ranges of CPUs, as in "0-1" or "0,64"
        const bool is_range = list.peek() == '-' && list.ignore() && list >> last;
        sharing += is_range ? std::max(last - first, 0) + 1 : 1;
    }
    const bool is_known = level == 2 && kilobytes > 0 && sharing > 0;
    return is_known ? std::size_t(kilobytes) * 1024 / std::size_t(sharing) : unknown;
}

double inplace_stream_scale(std::size_t bytes, int threads, int repeats) {
    if (bytes < sizeof(double) || threads < 1 || threads > max_threads || repeats < 1) {
        throw std::invalid_argument("inplace_stream_scale: " + std::to_string(bytes) + " bytes, " +
                                    std::to_string(threads) + " threads and " + std::to_string(repeats) +
                                    " repeats given, must be at least 8, 1 and 1, and at most " +
                                    std::to_string(max_threads) + " threads");
    }
    const auto count = Index(bytes / sizeof(double));
    const Buffer buffer(std::size_t(count) * sizeof(double));
    auto* x = buffer.as<double>();
    parallel_shares(threads, count, [&](Index first, Index last) { std::fill(x + first, x + last, 1.0); });
    double best = 0;
    for (int k = 0; k < repeats; ++k) {
        // The factor differs each time and is never 1, so that the compiler cannot omit the work.
        const double factor = 1.0 + 1e-9 * (k + 1);
        const auto start = std::chrono::steady_clock::now();
        parallel_shares(threads, count, [&](Index first, Index last) {
            for (Index i = first; i < last; ++i) {
                x[i] *= factor;
            }
        });
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        best = std::max(best, 2.0 * double(count) * sizeof(double) / seconds.count());
    }
    return best;
}

}  // namespace lbm::cpu
