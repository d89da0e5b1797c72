// The memory layout of a block on a device: the padding of its rows and the size of its lattices.
#pragma once

#include "block_state.h"

namespace lbm::backend {

enum class Device { Cpu, Gpu };

Address block_address(const BlockSpec& spec, Device device);

/// Size in bytes of one lattice of a block.
std::size_t lattice_bytes(const BlockSpec& spec, Device device);

/// Size in bytes of all lattices of a block.
std::size_t block_bytes(const BlockSpec& spec, Device device);

}  // namespace lbm::backend
