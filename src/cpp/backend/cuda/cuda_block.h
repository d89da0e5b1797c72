// Makes blocks on a GPU, and measures the copy bandwidth.
#pragma once

#include <memory>
#include <string>

#include "../block_state.h"
#include "../propagation_time.h"

namespace lbm::cuda {

/// Makes a block on a GPU. Throws CudaMissing if there is no driver, GPU or NVRTC, and OutOfDeviceMemory.
std::unique_ptr<backend::BlockState> make_block(const backend::BlockSpec& spec, int ordinal);

/// The copy bandwidth of a GPU: read plus written bytes per second of copies of `bytes`, repeated for `seconds`.
double copy_bandwidth(int ordinal, std::size_t bytes, double seconds);

/// Seconds of a step of backend::propagation_seconds().
double propagation_seconds(const backend::PropagationKind& kind, const backend::PropagationBox& box, int ordinal,
                           double seconds);

}  // namespace lbm::cuda
