// The memory layout of a block on a device: the padding of its rows and the size of its lattices.
#pragma once

#include "block_state.h"
#include "end_columns.h"

namespace lbm::backend {

enum class Device { Cpu, Gpu };

Address block_address(const BlockSpec& spec, Device device);

/// The cells by whose multiples an interior may be trimmed in x: those of the widest pack on the CPU, those of a sector
/// of memory on a GPU, so that no sector is read both for the interior and for the ends of its rows; 0 if it may not.
int trim_unit(const BlockSpec& spec, Device device);

/// The columns that a block on a device gathers for others; none on the CPU, or if they read no strided columns.
EndColumns end_columns(const BlockSpec& spec, Device device);

/// Size in bytes of one lattice of a block.
std::size_t lattice_bytes(const BlockSpec& spec, Device device);

/// Size in bytes of all lattices of a block.
std::size_t block_bytes(const BlockSpec& spec, Device device);

}  // namespace lbm::backend
