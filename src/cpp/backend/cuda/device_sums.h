// Sums over the cells or links of a block, by kernels that write one partial sum per thread block.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "../block_state.h"
#include "device.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

class DeviceSums {
public:
    /// Keeps references to the arguments, which must outlive it.
    DeviceSums(const backend::BlockSpec& spec, const WorkStream& stream, KernelSet& kernels)
        : spec_(spec),
          stream_(stream),
          kernels_(kernels),
          partial_(stream.ordinal(), sizeof(double) * most_sums * most_blocks) {}

    std::size_t bytes() const { return partial_.bytes() + last_velocity_.bytes() + body_links_.bytes(); }

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

    backend::Extremes extremes(const StateArguments& state) const {
        const Index rows = Index(state.address.ny) * state.address.nz;
        const std::vector<double> parts =
            partial_sums<7>("reductions.h", "extremes", rows * state.address.nx, state, RowRange{0, rows});
        backend::Extremes all = backend::Extremes::of_none();
        for (std::size_t k = 0; k < parts.size(); k += 7) {
            all.join({parts[k], parts[k + 1], parts[k + 2], parts[k + 3], parts[k + 4], parts[k + 5], parts[k + 6]});
        }
        return all;
    }

    /// Forgets the links of bodies, as the plan has changed.
    void forget_links() { uploaded_body_ = nullptr; }
    backend::ForceAndTorque body_force(const StateArguments& state, const std::vector<backend::BodyLink>& links,
                                       const double center[3]) {
        backend::ForceAndTorque sum{};
        if (links.empty()) {
            return sum;
        }
        if (uploaded_body_ != &links) {
            upload(body_links_, stream_, links);
            uploaded_body_ = &links;
        }
        const auto count = Index(links.size());
        const auto parts = add<6>("body_force", count, state, body_links_.as<backend::BodyLink>(), count, center[0],
                                  center[1], center[2]);
        for (int d = 0; d < 3; ++d) {
            sum.force[d] = parts[std::size_t(d)];
            sum.torque[d] = parts[std::size_t(d) + 3];
        }
        return sum;
    }

    /// See BlockState::velocity_change.
    void velocity_change(const StateArguments& state, int D, double& change2, double& norm2) {
        const Index rows = Index(state.address.ny) * state.address.nz, cells = rows * state.address.nx;
        const bool first_call = last_velocity_.bytes() == 0;
        if (first_call) {
            last_velocity_ =
                DeviceBuffer(stream_.ordinal(), backend::size_of(spec_.precision) * std::size_t(cells * D));
            stream_.clear(last_velocity_.address(), last_velocity_.bytes());
        }
        const auto sums = add<2>("velocity_change", cells, state, RowRange{0, rows}, last_velocity_.as<void>());
        change2 = first_call ? std::numeric_limits<double>::infinity() : sums[0];
        norm2 = sums[1];
    }

private:
    static constexpr int most_blocks = 1024, most_sums = 7;

    static LaunchDimensions capped(Index count) {
        LaunchDimensions dimensions = flat(count);
        dimensions.blocks = std::min(dimensions.blocks, unsigned(most_blocks));
        return dimensions;
    }

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    DeviceBuffer partial_, last_velocity_, body_links_;
    const void* uploaded_body_ = nullptr;
};

}  // namespace lbm::cuda
