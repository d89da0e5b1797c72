// Makes blocks on the CPU whose state is moments.
#pragma once

#include "cpu_block.h"

namespace lbm::cpu {

std::unique_ptr<backend::BlockState> make_moment_block(const backend::BlockSpec& spec, const CpuOptions& options);

}  // namespace lbm::cpu
