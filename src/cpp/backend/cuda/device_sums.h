// Sums over the cells or links of a block, by kernels that write one partial sum per thread block.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "../block_state.h"
#include "device.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

class DeviceSums {
public:
    /// Keeps references to the arguments, which must outlive it.
    DeviceSums(const backend::BlockSpec& spec, const WorkStream& stream, KernelSet& kernels)
        : spec_(spec),
          stream_(stream),
          kernels_(kernels),
          partial_(stream.ordinal(), sizeof(double) * most_sums * most_blocks) {}

    std::size_t bytes() const { return partial_.bytes(); }

    /// Runs a kernel of reductions.h over `count` items and returns its `wanted` sums; partial sums are added in the
    /// order of the thread blocks. The kernel takes the arguments, and the address for its sums.
    template <int wanted, class... Arguments>
    std::vector<double> add(const char* kernel, Index count, const Arguments&... arguments) const {
        const std::vector<double> parts = partial_sums<wanted>("reductions.h", kernel, count, arguments...);
        std::vector<double> sums(wanted);
        for (std::size_t k = 0; k < parts.size(); ++k) {
            sums[k % wanted] += parts[k];
        }
        return sums;
    }

    /// The partial sums of each thread block, one thread block after the other.
    template <int wanted, class... Arguments>
    std::vector<double> partial_sums(const char* header, const char* kernel, Index count,
                                     const Arguments&... arguments) const {
        static_assert(wanted <= most_sums);
        const LaunchDimensions dimensions = capped(count);
        kernels_.get(state_kernel(spec_, header, kernel))
            .launch(stream_, dimensions, arguments..., partial_.as<double>());
        std::vector<double> parts(std::size_t{wanted} * dimensions.blocks);
        stream_.copy_to_host(parts.data(), partial_.address(), parts.size() * sizeof(double));
        stream_.synchronize();
        return parts;
    }

    std::optional<backend::Cell> find_diverged(const StateArguments& state) const {
        constexpr unsigned long long none = ~0ULL;
        unsigned long long first = none;
        const Address& a = state.address;
        const Index rows = Index(a.ny) * a.nz;
        stream_.copy_to_device(partial_.address(), &first, sizeof first);
        kernels_.get(state_kernel(spec_, "reductions.h", "find_diverged"))
            .launch(stream_, capped(rows * a.nx), state, RowRange{0, rows}, partial_.as<unsigned long long>());
        stream_.copy_to_host(&first, partial_.address(), sizeof first);
        stream_.synchronize();
        if (first == none) {
            return std::nullopt;
        }
        const Index row = Index(first) / a.nx;
        return backend::Cell{int(Index(first) % a.nx), int(row % a.ny), int(row / a.ny)};
    }

private:
    static constexpr int most_blocks = 1024, most_sums = 6;

    static LaunchDimensions capped(Index count) {
        LaunchDimensions dimensions = flat(count);
        dimensions.blocks = std::min(dimensions.blocks, unsigned(most_blocks));
        return dimensions;
    }

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    DeviceBuffer partial_;
};

}  // namespace lbm::cuda
