// A compiled kernel on one GPU, ready to launch.
#pragma once

#include "../../lattice/portability.h"
#include "compiler.h"
#include "device.h"

namespace lbm::cuda {

struct LaunchShape {
    unsigned blocks = 1;
    unsigned block_x = 1, block_y = 1;
    bool programmatic_launch = false;  // the kernel waits for the one before it by itself
};

/// So many threads, of which a kernel needs to know no more.
inline LaunchShape flat(Index threads) {
    constexpr int a_block = 256;
    return {unsigned((threads + a_block - 1) / a_block), a_block, 1};
}

class Kernel {
public:
    /// Loads code for the GPU `ordinal`, which must be that of its architecture.
    Kernel(int ordinal, const KernelImage& image);
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// The arguments must be of the very types of the kernel's parameters.
    template <class... Arguments>
    void launch(const WorkStream& stream, const LaunchShape& shape, const Arguments&... arguments) const {
        const void* pointers[] = {&arguments...};
        launch_with(stream, shape, pointers);
    }

    int registers() const;
    int local_bytes() const;
    /// Blocks of so many threads that a multiprocessor runs at once.
    int blocks_at_once(int threads) const;

private:
    void launch_with(const WorkStream& stream, const LaunchShape& shape, const void* const* arguments) const;

    int ordinal_;
    Module module_ = nullptr;
    Function function_ = nullptr;
};

}  // namespace lbm::cuda
