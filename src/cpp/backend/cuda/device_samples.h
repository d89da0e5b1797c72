// Samples of the state of a block on a GPU: of its cells, and of the force on a body. Kernels write them to a buffer of
// many samples, which is copied to the host, beside the steps, when it is full or read.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../block_state.h"
#include "device.h"
#include "kernel_names.h"
#include "kernel_set.h"
#include "kernels/arguments.h"
#include "step_streams.h"
#include "upload.h"

namespace lbm::cuda {

/// What samples need of their block, which must outlive them.
struct SampledBlock {
    const backend::BlockSpec& spec;
    const WorkStream& stream;
    KernelSet& kernels;
    std::function<StateArguments()> state;
    const Index& revision;  // see BlockState::revision()
    const StepStreams& streams;
};

/// Samples of `width` numbers, which `launch` has kernels write to the address that it is given. There are two buffers:
/// while one is copied to the host, in a stream of its own, samples go into the other.
class DeviceSamples : public backend::StateSamples {
public:
    DeviceSamples(const DeviceSamples&) = delete;
    DeviceSamples& operator=(const DeviceSamples&) = delete;
    ~DeviceSamples() override {
        for (Buffer& buffer : buffers_) {
            if (buffer.is_sent) {  // the copy must not outlive the memory that it writes to
                give_back_on(copies_.ordinal(), [&] { buffer.copied.wait(); });
            }
        }
    }

    void take() override {
        if (filling().count == capacity_) {
            send();
        }
        Buffer& buffer = filling();
        if (buffer.samples.bytes() == 0 && width_ > 0) {
            buffer.samples = DeviceBuffer(copies_.ordinal(), std::size_t(capacity_) * width_ * sizeof(double));
        }
        if (width_ > 0) {
            launch(buffer.samples.as<double>() + std::size_t(buffer.count) * width_);
        }
        ++buffer.count;
    }
    void forget_last() noexcept override { --filling().count; }
    void forget() noexcept override {
        for (Buffer& buffer : buffers_) {
            buffer.count = 0;  // a copy that goes on is waited for before its memory is written to again
        }
        numbers_.clear();
        arrived_ = 0;
    }
    void send() override {
        Buffer& buffer = filling();
        if (buffer.count == 0) {
            return;
        }
        if (width_ > 0) {
            if (buffer.pinned == nullptr) {
                buffer.pinned = pinned_memory(copies_.ordinal(), buffer.samples.bytes());
            }
            buffer.filled.set(block_.stream);
            buffer.filled.make_wait(copies_);
            copies_.copy_to_host(buffer.pinned.get(), buffer.samples.address(),
                                 std::size_t(buffer.count) * width_ * sizeof(double));
            buffer.copied.set(copies_);
        }
        buffer.is_sent = true;
        now_ = 1 - now_;
        receive(filling());  // which was sent a whole buffer of samples ago
    }
    void collect(Index samples, std::vector<double>& numbers) override {
        if (arrived_ < samples) {
            receive(buffers_[1 - now_]);
        }
        if (arrived_ < samples) {
            send();
            receive(buffers_[1 - now_]);
        }
        if (samples == arrived_) {  // a whole chunk, as always but at the end of a run, need not be copied
            numbers.swap(numbers_);
            numbers_.clear();
        } else if (samples > 0) {
            const auto end = numbers_.begin() + std::ptrdiff_t(numbers_.size() / std::size_t(arrived_)) * samples;
            numbers.assign(numbers_.begin(), end);
            numbers_.erase(numbers_.begin(), end);
        } else {
            numbers.clear();
        }
        arrived_ -= samples;
    }

protected:
    DeviceSamples(SampledBlock block, std::size_t width)
        : block_(std::move(block)),
          width_(width),
          capacity_(std::clamp<Index>(Index(most_bytes / (std::max<std::size_t>(width, 1) * sizeof(double))), 1, 4096)),
          copies_(block_.stream.ordinal()) {}

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

    struct Buffer {
        explicit Buffer(int ordinal) : filled(ordinal), copied(ordinal) {}

        DeviceBuffer samples;
        std::shared_ptr<void> pinned;  // where they are copied to
        StreamEvent filled, copied;
        Index count = 0;
        bool is_sent = false;
    };

    Buffer& filling() { return buffers_[now_]; }
    /// Waits for a buffer that was sent, and takes its numbers.
    void receive(Buffer& buffer) {
        if (!buffer.is_sent) {
            return;
        }
        if (width_ > 0) {
            buffer.copied.wait();
        }
        const auto* samples = static_cast<const double*>(buffer.pinned.get());
        for (Index k = 0; k < buffer.count; ++k) {
            append(samples + std::size_t(k) * width_, numbers_);
        }
        arrived_ += buffer.count;
        buffer.count = 0;
        buffer.is_sent = false;
    }

    Index capacity_;
    WorkStream copies_;
    Buffer buffers_[2] = {Buffer(copies_.ordinal()), Buffer(copies_.ordinal())};
    int now_ = 0;  // the buffer that samples go into
    std::vector<double> numbers_;
    Index arrived_ = 0;  // the samples whose numbers these are
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
        LaunchDimensions dimensions = flat(count_);
        dimensions.programmatic_launch = !block_.streams.divided();
        kernel_->launch(block_.stream, dimensions, block_.state(), cells_.as<backend::Cell>(), count_, fields_, sample);
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
    /// Whether two links of the same place in the list, whose cells do not change, are equal.
    static bool is_alike(const backend::BodyLink& a, const backend::BodyLink& b) {
        return a.wall_momentum == b.wall_momentum && std::equal(a.velocity, a.velocity + 3, b.velocity);
    }
    static LaunchDimensions dimensions(Index count) {
        LaunchDimensions found = flat(count);
        found.blocks = std::min(found.blocks, 1024U);
        return found;
    }
    void launch(double* sample) override {
        if (looked_at_ != block_.revision) {  // what walls give to the links may have changed
            const std::vector<backend::BodyLink>& now = links_();
            if (looked_at_ < 0 || !std::equal(now.begin(), now.end(), uploaded_.begin(), uploaded_.end(), is_alike)) {
                upload(on_device_, block_.stream, now);
                uploaded_ = now;
            }
            looked_at_ = block_.revision;
        }
        if (kernel_ == nullptr) {
            kernel_ = &block_.kernels.get(state_kernel(block_.spec, "reductions.h", "body_force"));
        }
        const auto count = Index(on_device_.bytes() / sizeof(backend::BodyLink));
        if (6 * std::size_t(dimensions(count).blocks) != width_) {
            throw std::logic_error("samples of a force: the cells of its body have changed");
        }
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
    std::vector<backend::BodyLink> uploaded_;
    Index looked_at_ = -1;  // the block's revision
};

}  // namespace lbm::cuda
