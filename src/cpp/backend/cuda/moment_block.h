// Makes blocks on a GPU whose state is moments.
#pragma once

#include <memory>

#include "../block_state.h"

namespace lbm::cuda {

/// Throws as make_block().
std::unique_ptr<backend::BlockState> make_moment_block(const backend::BlockSpec& spec, int ordinal);

}  // namespace lbm::cuda
