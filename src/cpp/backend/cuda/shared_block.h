// A block's lattices and marks for the other processes of the host, by CUDA's interprocess handles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../remote_block.h"
#include "device.h"

namespace lbm::cuda {

/// What has a mark in each slot.
class GpuEventSource {
public:
    GpuEventSource() = default;
    GpuEventSource(const GpuEventSource&) = delete;
    GpuEventSource& operator=(const GpuEventSource&) = delete;
    virtual ~GpuEventSource() = default;

    virtual const StreamEvent& event_in(int slot) const = 0;
};

/// In hexadecimal digits: the GPU, and handles of the lattices and of the marks. Throws CudaError where the system has
/// none.
std::string share_block(int ordinal, const std::vector<DevicePointer>& lattices,
                        const std::vector<std::unique_ptr<StreamEvent>>& marks);

/// For the GPU `ordinal`; null where it does not see or reach the block's GPU, where this process works on that too, or
/// where the system forbids it.
std::unique_ptr<backend::RemoteBlock> open_block(const std::string& shared, int ordinal);

}  // namespace lbm::cuda
