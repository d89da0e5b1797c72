// Blocks and memory on the devices of this machine, which are chosen by name: "cpu", "cuda:0" and so on.
#pragma once

#include <memory>
#include <string>

#include "block_state.h"
#include "custom/given.h"
#include "end_columns.h"

namespace lbm::backend {

struct DeviceOptions {
    std::string name = "cpu";
    int threads = 0;  // CPU threads; 0: all
    std::string isa;  // instruction set of the CPU; empty: the best
};

/// The ordinal of the GPU that a device name means; -1 for the CPU. Throws std::invalid_argument for other names.
int gpu_number(const std::string& device);

/// Returns the options with defaults filled in. Throws std::invalid_argument for what this machine does not have.
DeviceOptions checked(DeviceOptions options);

/// The memory layout of a block on a device.
Address block_address(const BlockSpec& spec, const std::string& device);
/// See block_layout.h.
EndColumns end_columns(const BlockSpec& spec, const std::string& device);
int trim_unit(const BlockSpec& spec, const std::string& device);
VelocityRows velocity_rows(const BlockSpec& spec, const std::string& device);

/// Whether blocks on a device can read the memory of blocks on another; enables peer access where that is needed.
bool can_access(const std::string& device, const std::string& other);

/// Allocates host memory that blocks on all of these devices can read and write.
std::shared_ptr<void> common_memory(const std::vector<std::string>& devices, std::size_t bytes);

/// Allocates memory of a device.
std::shared_ptr<void> device_memory(const std::string& device, std::size_t bytes);

/// Throws std::invalid_argument unless a text is a handle that share() of a block returns in this version of the
/// library.
void check_shared_block(const std::string& shared);

/// Opens a block of another process by the handle that its share() returned, for blocks on a device of this process;
/// null if this device cannot reach it.
std::unique_ptr<RemoteBlock> open_block(const std::string& shared, const std::string& device);

/// Makes a block. `options` must be those that checked() has returned.
std::unique_ptr<BlockState> make_block(const BlockSpec& spec, const DeviceOptions& options);

/// The parameters of a spec's own collision, made by the code that its blocks on a device will have, which is compiled
/// for it. Throws custom::CompileError.
custom::Made make_parameters(const BlockSpec& spec, const DeviceOptions& options,
                             const std::vector<custom::GivenNumber>& given);

/// Size in bytes of the lattices that make_block would allocate on a device.
std::size_t memory_needed(const BlockSpec& spec, const std::string& device);

}  // namespace lbm::backend
