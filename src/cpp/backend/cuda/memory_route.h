// A route between the memories of two devices, to measure its bandwidth.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "device.h"
#include "kernel.h"

namespace lbm::cuda {

/// A route for copies: a kernel of the target reads the source's memory if it can reach it; otherwise the source writes
/// to host memory, which the target reads.
class MemoryRoute {
public:
    /// Makes a route for copies of up to `bytes` between two GPUs, given by their ordinals, or a GPU and the host,
    /// which is -1. Throws std::invalid_argument if there is no such GPU, and OutOfDeviceMemory.
    MemoryRoute(int from, int to, std::size_t bytes);

    /// Copies `bytes`, rounded down to a multiple of 16, and returns when that has completed.
    void copy(std::size_t bytes) const;

private:
    /// One end of the route. That of a GPU has the stream and the kernel that copies.
    struct End {
        End(int ordinal, std::size_t bytes);

        DevicePointer address() const { return buffer.address(); }

        bool gpu;
        DeviceBuffer buffer;                  // the memory if it is a GPU
        mutable std::vector<std::byte> host;  // the memory if it is the host
        std::unique_ptr<WorkStream> stream;
        std::unique_ptr<StreamEvent> written;
        std::unique_ptr<Kernel> kernel;
    };

    static void launch(const End& end, DevicePointer from, DevicePointer to, std::size_t bytes);

    End from_, to_;
    std::shared_ptr<void> between_;  // host memory; null if the target reaches the source
};

}  // namespace lbm::cuda
