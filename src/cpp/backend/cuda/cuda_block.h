// A block on a GPU: its lattices there, its kernels compiled for exactly what it computes, its work in one stream.
#pragma once

#include <memory>
#include <string>

#include "../block_state.h"

namespace lbm::cuda {

/// Throws CudaMissing without a driver, a GPU or NVRTC, and OutOfDeviceMemory.
std::unique_ptr<backend::BlockState> make_block(const backend::BlockSpec& spec, int ordinal);

/// Bytes per second of a copy over `bytes` on a GPU, read and written bytes counted, sustained for `seconds`.
double copy_bandwidth(int ordinal, std::size_t bytes, double seconds);

}  // namespace lbm::cuda
