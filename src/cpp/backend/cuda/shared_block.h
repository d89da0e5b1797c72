// A block's lattices and marks for the other processes of the host, by CUDA's interprocess handles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../remote_block.h"
#include "device.h"

namespace lbm::cuda {

/// What has a mark in each slot.
class MarkedOnGpu {
public:
    MarkedOnGpu() = default;
    MarkedOnGpu(const MarkedOnGpu&) = delete;
    MarkedOnGpu& operator=(const MarkedOnGpu&) = delete;
    virtual ~MarkedOnGpu() = default;

    virtual const WorkMark& mark_in(int slot) const = 0;
};

/// In hexadecimal digits: the GPU, and handles of the lattices and of the marks. Throws CudaError where the system has
/// none.
std::string share_block(int ordinal, const std::vector<DevicePointer>& lattices,
                        const std::vector<std::unique_ptr<WorkMark>>& marks);

/// For the GPU `ordinal`; null where it does not see or reach the block's GPU, where this process works on that too, or
/// where the system forbids it.
std::unique_ptr<backend::RemoteBlock> open_block(const std::string& shared, int ordinal);

}  // namespace lbm::cuda
