// Blocks on the devices of this machine by name: "cpu", "cuda:0" and so on.
#pragma once

#include <memory>
#include <string>

#include "block_state.h"
#include "custom/given.h"

namespace lbm::backend {

struct DeviceOptions {
    std::string name = "cpu";
    int threads = 0;  // of the CPU; 0: all
    std::string isa;  // of the CPU; empty: the best
};

/// The number of a GPU by its device's name; -1 for the CPU. Throws std::invalid_argument for another name.
int gpu_number(const std::string& device);

/// The options with what was left open filled in. Throws std::invalid_argument for what is not there.
DeviceOptions checked(DeviceOptions options);

/// Where the elements of a block on a device lie.
Address block_address(const BlockSpec& spec, const std::string& device);

/// Whether blocks on a device read the memory of blocks on another; makes it so where that must be asked for.
bool reaches(const std::string& device, const std::string& other);

/// Memory of the host that blocks on all of these devices read and write.
std::shared_ptr<void> common_memory(const std::vector<std::string>& devices, std::size_t bytes);

/// Memory of a device.
std::shared_ptr<void> device_memory(const std::string& device, std::size_t bytes);

/// A block of another process by what it has shared, for blocks on a device of this one; null where that cannot reach
/// it.
std::unique_ptr<RemoteBlock> open_block(const std::string& shared, const std::string& device);

/// `options` as checked.
std::unique_ptr<BlockState> make_block(const BlockSpec& spec, const DeviceOptions& options);

/// The parameters of a spec's own collision, made by the code that its blocks on a device will have, which is compiled
/// for it. Throws custom::CompileError.
custom::Made make_parameters(const BlockSpec& spec, const DeviceOptions& options,
                             const std::vector<custom::GivenNumber>& given);

/// Bytes of lattice that make_block would allocate on a device.
std::size_t memory_needed(const BlockSpec& spec, const std::string& device);

}  // namespace lbm::backend
