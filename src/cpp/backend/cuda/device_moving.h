// The bodies that move, of a block on a GPU: their shapes in its memory, and the launches of their kernels.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../moving_state.h"
#include "device_samples.h"
#include "device_scaling.h"
#include "device_sums.h"
#include "kernels/moving_arguments.h"

namespace lbm::cuda {

/// Samples of the force and the torque on a body that moves: the sums of each thread block, which the host adds.
class DeviceMovingForceSamples final : public DeviceSamples {
public:
    using Launch = std::function<void(const LaunchDimensions&, double*)>;

    DeviceMovingForceSamples(SampledBlock block, LaunchDimensions dimensions, Launch launch)
        : DeviceSamples(std::move(block), 6 * std::size_t(dimensions.blocks)),
          dimensions_(dimensions),
          launch_(std::move(launch)) {}

private:
    void launch(double* sample) override { launch_(dimensions_, sample); }
    void append(const double* sample, std::vector<double>& numbers) const override {
        double sums[6] = {};
        for (std::size_t k = 0; k < width_; ++k) {
            sums[k % 6] += sample[k];
        }
        numbers.insert(numbers.end(), sums, sums + 6);
    }

    LaunchDimensions dimensions_;
    Launch launch_;
};

class DeviceMoving final : public backend::MovingState {
public:
    /// Keeps references to the arguments, which must outlive it; `sampled` gives what samples need of the block.
    DeviceMoving(const backend::BlockSpec& spec, const WorkStream& stream, KernelSet& kernels, DeviceScaling& scaling,
                 Index& revision, std::function<SampledBlock()> sampled)
        : spec_(spec),
          stream_(stream),
          kernels_(kernels),
          scaling_(scaling),
          revision_(revision),
          sampled_(std::move(sampled)) {}

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const Body& body : bodies_) {
            sum += body.parts.bytes() + body.numbers.bytes() + body.table.bytes();
        }
        return sum;
    }

    void set_bodies(const std::vector<backend::MovingBodyData>& bodies, const backend::MovingPlace& place) override {
        ++revision_;
        place_ = place;
        bodies_.clear();
        int end = 0;
        for (const backend::MovingBodyData& given : bodies) {
            Body& own = bodies_.emplace_back();
            upload(own.parts, stream_, given.parts);
            upload(own.numbers, stream_, given.numbers);
            upload(own.table, stream_, given.table);
            own.body = given.body;
            own.body.shape = {own.parts.as<backend::ShapePart>(), int(given.parts.size()), own.numbers.as<double>(),
                              own.table.as<int>()};
            end = std::max(end, given.end());
        }
        scaling_.set_pose_series(end);
    }

    void expect_kernels() const {
        if (!bodies_.empty()) {
            kernels_.expect(kernel(false));
            kernels_.expect(kernel(true));
        }
    }

    /// Changes what comes in around all bodies: first the walls of all of them, whose formulas read what the other
    /// changes replace.
    void change_incoming(const StateArguments& state, bool programmatic_launch) const {
        for (const bool fills : {false, true}) {
            for (const Body& body : bodies_) {
                LaunchDimensions dimensions = flat(body.cells());
                dimensions.programmatic_launch = programmatic_launch;
                kernels_.get(kernel(fills)).launch(stream_, dimensions, arguments(state, body));
            }
        }
    }

    backend::ForceAndTorque force(std::size_t which, const backend::TorqueCenter& center) const override {
        const Body& body = bodies_[which];
        const LaunchDimensions dimensions = of_sums(body);
        const DeviceBuffer sums(stream_.ordinal(), std::size_t{6} * dimensions.blocks * sizeof(double));
        launch_force(sampled_().state(), body, center, dimensions, sums.as<double>());
        std::vector<double> parts(std::size_t{6} * dimensions.blocks);
        stream_.copy_to_host(parts.data(), sums.address(), sums.bytes());
        stream_.synchronize();
        backend::ForceAndTorque sum{};
        for (std::size_t k = 0; k < parts.size(); ++k) {
            (k % 6 < 3 ? sum.force : sum.torque)[k % 3] += parts[k];
        }
        return sum;
    }

    std::unique_ptr<backend::StateSamples> make_force_samples(std::size_t which,
                                                              const backend::TorqueCenter& center) override {
        SampledBlock block = sampled_();
        return std::make_unique<DeviceMovingForceSamples>(
            block, of_sums(bodies_[which]),
            [this, which, center, state = block.state](const LaunchDimensions& dimensions, double* out) {
                launch_force(state(), bodies_[which], center, dimensions, out);
            });
    }

private:
    struct Body {
        DeviceBuffer parts, numbers, table;
        backend::MovingBody body;

        Index cells() const { return Index(body.size[0]) * body.size[1] * body.size[2]; }
    };

    KernelName kernel(bool fills) const {
        return state_kernel(spec_, "moving_bodies.h", "change_around_body", fills ? "true" : "false");
    }
    MovingBodyArguments arguments(const StateArguments& state, const Body& body) const {
        return {state, body.body, place_, scaling_.arguments_of_poses()};
    }
    static LaunchDimensions of_sums(const Body& body) {
        LaunchDimensions found = flat(body.cells());
        found.blocks = std::min(found.blocks, 1024U);
        return found;
    }
    void launch_force(const StateArguments& state, const Body& body, const backend::TorqueCenter& center,
                      const LaunchDimensions& dimensions, double* out) const {
        kernels_.get(state_kernel(spec_, "moving_bodies.h", "moving_body_force"))
            .launch(stream_, dimensions, arguments(state, body), center.at[0], center.at[1], center.at[2],
                    int(center.moves), out);
    }

    const backend::BlockSpec& spec_;
    const WorkStream& stream_;
    KernelSet& kernels_;
    DeviceScaling& scaling_;
    Index& revision_;
    std::function<SampledBlock()> sampled_;
    std::vector<Body> bodies_;
    backend::MovingPlace place_{};
};

}  // namespace lbm::cuda
