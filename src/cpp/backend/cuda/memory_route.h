// A way from the memory of a GPU or the host to that of another, for measuring how fast it is.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "device.h"
#include "kernel.h"

namespace lbm::cuda {

/// The target's kernel reads the source's memory where it can; else one side writes memory of the host that the other
/// reads. That is what the exchange of blocks does.
class MemoryRoute {
public:
    /// Between GPUs by their numbers, -1 for the host, one of them being a GPU; for copies of up to `bytes`. Throws
    /// std::invalid_argument where there is no such GPU, and OutOfDeviceMemory.
    MemoryRoute(int from, int to, std::size_t bytes);

    /// Returns when it is done; the part of `bytes` that is whole vectors of 16.
    void copy(std::size_t bytes) const;

private:
    /// One end of the route; a GPU's has the kernel that works there.
    struct End {
        End(int ordinal, std::size_t bytes);

        DevicePointer address() const { return buffer.address(); }

        bool gpu;
        DeviceBuffer buffer;                  // of a GPU
        mutable std::vector<std::byte> host;  // of the host
        std::unique_ptr<WorkStream> stream;
        std::unique_ptr<StreamEvent> mark;
        std::unique_ptr<Kernel> kernel;
    };

    static void launch(const End& end, DevicePointer from, DevicePointer to, std::size_t bytes);

    End from_, to_;
    std::shared_ptr<void> between_;  // in the host's memory; empty where the target reaches the source
};

}  // namespace lbm::cuda
