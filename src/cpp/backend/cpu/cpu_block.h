// A block on the CPU: allocates its lattice, picks its kernel, runs it over rows on a team of threads.
#pragma once

#include <memory>
#include <string>

#include "../block_state.h"

namespace lbm::cpu {

struct CpuOptions {
    int threads;      // at least 1
    std::string isa;  // one of usable_isas()
};

std::unique_ptr<backend::BlockState> make_block(const backend::BlockSpec& spec, const CpuOptions& options);

/// Threads that this process may use.
int default_threads();

/// Bytes per second of x <- a x over `bytes` of float64, read and written bytes counted; the best of `repeats`.
double update_bandwidth(std::size_t bytes, int threads, int repeats);

}  // namespace lbm::cpu
