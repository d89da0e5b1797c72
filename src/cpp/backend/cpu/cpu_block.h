// Makes blocks on the CPU, and says what this machine offers for them.
#pragma once

#include <memory>
#include <string>

#include "../block_state.h"
#include "../propagation_time.h"

namespace lbm::cpu {

struct CpuOptions {
    int threads;      // at least 1
    std::string isa;  // one of usable_isas()
};

std::unique_ptr<backend::BlockState> make_block(const backend::BlockSpec& spec, const CpuOptions& options);

/// The number of threads that this process may use.
int default_threads();

/// Bytes of the first CPU's second-level cache that a thread has for itself if all CPUs run one; 1 MiB where the system
/// does not tell.
std::size_t second_level_cache();

/// Measures the in-place STREAM scale, x <- a x over `bytes` of float64: read plus written bytes per second, the best
/// of `repeats`. Throws std::invalid_argument for arguments out of range.
double inplace_stream_scale(std::size_t bytes, int threads, int repeats);

/// Seconds of a step of backend::propagation_seconds().
double propagation_seconds(const backend::PropagationKind& kind, const backend::PropagationBox& box, int threads,
                           double seconds);

}  // namespace lbm::cpu
