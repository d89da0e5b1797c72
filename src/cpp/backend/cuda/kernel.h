// A compiled kernel loaded on one GPU, and its launch.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "../../lattice/portability.h"
#include "compiler.h"
#include "device.h"
#include "kernels/flat_block.h"

namespace lbm::cuda {

/// The grid and block dimensions of a launch.
struct LaunchDimensions {
    unsigned blocks = 1;
    unsigned block_x = 1, block_y = 1;
    bool programmatic_launch = false;  // programmatic dependent launch: the kernel itself waits for the previous one
    unsigned members = 1;              // blocks of the lattice that a launch serves, by blockIdx.y
    unsigned shared_bytes = 0;         // of shared memory that the kernel does not know of when it is compiled

    bool operator==(const LaunchDimensions&) const = default;
};

/// The bytes of an argument of a kernel.
using KernelArgument = std::span<const std::byte>;

/// A launch of so many threads in one dimension.
inline LaunchDimensions flat(Index threads) {
    return {unsigned((threads + flat_block - 1) / flat_block), flat_block, 1};
}

class Kernel {
public:
    /// Loads the code on the GPU `ordinal`; it must have been compiled for the architecture of this GPU.
    Kernel(int ordinal, const KernelImage& image, KernelName name = {});
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// Launches the kernel. The arguments must have exactly the types of the kernel's parameters.
    template <class... Arguments>
    void launch(const WorkStream& stream, const LaunchDimensions& dimensions, const Arguments&... arguments) const {
        launch_with(stream, dimensions, {std::as_bytes(std::span(&arguments, 1))...});
    }
    /// The same, with a list of arguments. A stream that a batch collects from hands the launch to the batch.
    void launch_with(const WorkStream& stream, const LaunchDimensions& dimensions,
                     const std::vector<KernelArgument>& arguments) const;

    /// Lets launches have up to so much shared memory, which above 48 KiB has to be asked for.
    void allow_shared_memory(unsigned bytes) const;

    const KernelName& name() const { return name_; }
    int registers() const;
    int local_bytes() const;
    /// How many blocks of so many threads can be resident on a multiprocessor.
    int blocks_at_once(int threads) const;

private:
    int ordinal_;
    KernelName name_;
    Module module_ = nullptr;
    Function function_ = nullptr;
};

}  // namespace lbm::cuda
