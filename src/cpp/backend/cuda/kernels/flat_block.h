// The thread blocks of kernels that have a thread for each cell, link or the like.
#pragma once

namespace lbm::cuda {

constexpr int flat_block = 256;  // threads

}  // namespace lbm::cuda
