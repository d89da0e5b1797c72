// Samples of the state of a block on a GPU: of its cells, and of the force on a body. Kernels write them to a buffer of
// many samples, which is copied to the host when it is full or read.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../block_state.h"
#include "device.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "upload.h"

namespace lbm::cuda {

/// What samples need of their block, which must outlive them.
struct SampledBlock {
    const backend::BlockSpec& spec;
    const WorkStream& stream;
    KernelSet& kernels;
    std::function<StateArguments()> state;
    const Index& revision;  // see BlockState::revision()
};

/// Samples of `width` numbers, which `launch` has kernels write to the address that it is given.
class DeviceSamples : public backend::StateSamples {
public:
    void take() override {
        if (taken_ == capacity_) {
            drain();
        }
        if (buffer_.bytes() == 0 && width_ > 0) {
            buffer_ = DeviceBuffer(block_.stream.ordinal(), std::size_t(capacity_) * width_ * sizeof(double));
        }
        if (width_ > 0) {
            launch(buffer_.as<double>() + std::size_t(taken_) * width_);
        }
        ++taken_;
    }
    void forget_last() noexcept override { --taken_; }  // take() writes one behind those that it has copied
    void forget() noexcept override {
        taken_ = 0;
        numbers_.clear();
    }
    std::vector<double> collect() override {
        drain();
        return std::exchange(numbers_, {});
    }

protected:
    DeviceSamples(SampledBlock block, std::size_t width)
        : block_(std::move(block)),
          width_(width),
          capacity_(
              std::clamp<Index>(Index(most_bytes / (std::max<std::size_t>(width, 1) * sizeof(double))), 1, 4096)) {}

    virtual void launch(double* sample) = 0;
    /// The numbers of a sample of those that the kernels have written.
    virtual void append(const double* sample, std::vector<double>& numbers) const {
        numbers.insert(numbers.end(), sample, sample + width_);
    }

    SampledBlock block_;
    std::size_t width_;
    const Kernel* kernel_ = nullptr;  // looked up at the first sample

private:
    static constexpr std::size_t most_bytes = std::size_t(4) << 20;

    void drain() {
        if (taken_ == 0) {
            return;
        }
        const std::size_t bytes = std::size_t(taken_) * width_ * sizeof(double);
        if (pinned_ == nullptr) {
            pinned_ = pinned_memory(block_.stream.ordinal(), buffer_.bytes());
        }
        const auto* samples = static_cast<const double*>(pinned_.get());
        if (bytes > 0) {
            block_.stream.copy_to_host(pinned_.get(), buffer_.address(), bytes);
            block_.stream.synchronize();
        }
        for (Index k = 0; k < taken_; ++k) {
            append(samples + std::size_t(k) * width_, numbers_);
        }
        taken_ = 0;
    }

    Index capacity_, taken_ = 0;
    DeviceBuffer buffer_;
    std::shared_ptr<void> pinned_;
    std::vector<double> numbers_;
};

/// Samples of the fields of some cells.
class DevicePointSamples final : public DeviceSamples {
public:
    DevicePointSamples(SampledBlock block, const std::vector<backend::Cell>& cells, const backend::PointFields& fields,
                       int D)
        : DeviceSamples(std::move(block), cells.size() * std::size_t(fields.numbers(D))),
          count_(Index(cells.size())),
          fields_(fields) {
        upload(cells_, block_.stream, cells);
    }

private:
    void launch(double* sample) override {
        if (kernel_ == nullptr) {
            kernel_ = &block_.kernels.get(state_kernel(block_.spec, "point_samples.h", "point_samples"));
        }
        kernel_->launch(block_.stream, flat(count_), block_.state(), cells_.as<backend::Cell>(), count_, fields_,
                        sample);
    }

    Index count_;
    backend::PointFields fields_;
    DeviceBuffer cells_;
};

/// Samples of the force and the torque on a body: the sums of each thread block, which the host adds in their order.
class DeviceForceSamples final : public DeviceSamples {
public:
    DeviceForceSamples(SampledBlock block, backend::BodyLinksNow links, const double (&center)[3])
        : DeviceSamples(std::move(block), 6 * std::size_t(dimensions(Index(links().size())).blocks)),
          links_(std::move(links)),
          center_{center[0], center[1], center[2]} {}

private:
    static LaunchDimensions dimensions(Index count) {
        LaunchDimensions found = flat(count);
        found.blocks = std::min(found.blocks, 1024U);
        return found;
    }
    void launch(double* sample) override {
        if (uploaded_ != block_.revision) {  // what walls give to the links may have changed
            upload(on_device_, block_.stream, links_());
            uploaded_ = block_.revision;
        }
        if (kernel_ == nullptr) {
            kernel_ = &block_.kernels.get(state_kernel(block_.spec, "reductions.h", "body_force"));
        }
        const auto count = Index(on_device_.bytes() / sizeof(backend::BodyLink));
        kernel_->launch(block_.stream, dimensions(count), block_.state(), on_device_.as<backend::BodyLink>(), count,
                        center_[0], center_[1], center_[2], sample);
    }
    void append(const double* sample, std::vector<double>& numbers) const override {
        double sums[6] = {};
        for (std::size_t k = 0; k < width_; ++k) {
            sums[k % 6] += sample[k];
        }
        numbers.insert(numbers.end(), sums, sums + 6);
    }

    backend::BodyLinksNow links_;
    double center_[3];
    DeviceBuffer on_device_;
    Index uploaded_ = -1;
};

}  // namespace lbm::cuda
