// Where the elements of a block lie on any device: the padding of rows and the size of the whole.
#pragma once

#include "block_state.h"

namespace lbm::backend {

enum class Device { Cpu, Gpu };

Address block_address(const BlockSpec& spec, Device device);

/// Bytes of each lattice of a block.
std::size_t lattice_bytes(const BlockSpec& spec, Device device);

/// Of all of them.
std::size_t block_bytes(const BlockSpec& spec, Device device);

}  // namespace lbm::backend
