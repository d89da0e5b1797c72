// Shares a block's lattices and events with other processes of the host, by CUDA's interprocess handles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../remote_block.h"
#include "device.h"

namespace lbm::cuda {

/// An event source on a GPU, with a CUDA event in each slot.
class GpuEventSource {
public:
    GpuEventSource() = default;
    GpuEventSource(const GpuEventSource&) = delete;
    GpuEventSource& operator=(const GpuEventSource&) = delete;
    virtual ~GpuEventSource() = default;

    virtual const StreamEvent& event_in(int slot) const = 0;
};

/// Makes further work of a stream wait for an event of another block; that of a block on the CPU is waited for at once.
void make_wait(const WorkStream& stream, const backend::EventSource& other, int slot);

/// Returns the GPU's identifier and the handles of the lattices and of the events, in hexadecimal digits. Throws
/// CudaError if the system does not support such handles.
std::string share_block(int ordinal, const std::vector<DevicePointer>& lattices,
                        const std::vector<std::unique_ptr<StreamEvent>>& events);

/// Throws std::invalid_argument unless a text is one that share_block of this version of the library returns.
void check_shared_block(const std::string& shared);

/// Opens a shared block for the GPU `ordinal`. Throws as check_shared_block. Returns null if this process does not see
/// the block's GPU, if `ordinal` does not reach it, if this process also works on the block's GPU, or if the system
/// forbids it.
std::unique_ptr<backend::RemoteBlock> open_block(const std::string& shared, int ordinal);

}  // namespace lbm::cuda
