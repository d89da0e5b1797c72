// The bodies that move, of a block on a GPU: their shapes in its memory, and the launches of their kernels.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../moving_state.h"
#include "device_samples.h"
#include "device_scaling.h"
#include "device_sums.h"
#include "kernels/moving_arguments.h"
#include "step_streams.h"

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
    DeviceMoving(const backend::BlockSpec& spec, StepStreams& streams, KernelSet& kernels, DeviceScaling& scaling,
                 Index& revision, std::function<SampledBlock()> sampled)
        : spec_(spec),
          streams_(streams),
          kernels_(kernels),
          scaling_(scaling),
          revision_(revision),
          sampled_(std::move(sampled)) {}

    std::size_t bytes() const {
        std::size_t sum = all_.bytes();
        for (const Body& body : bodies_) {
            sum += body.parts.bytes() + body.numbers.bytes() + body.table.bytes() + body.marks.bytes() +
                   body.cuts.bytes() + body.cut_lists.bytes();
        }
        return sum;
    }

    void set_bodies(const std::vector<backend::MovingBodyData>& bodies, const backend::MovingPlace& place) override {
        ++revision_;
        place_ = place;
        bodies_.clear();
        std::vector<backend::MovingBody> all;
        int end = 0;
        for (const backend::MovingBodyData& given : bodies) {
            Body& own = bodies_.emplace_back();
            upload(own.parts, stream_, given.parts);
            upload(own.numbers, stream_, given.numbers);
            upload(own.table, stream_, given.table);
            own.body = given.body;
            own.body.shape = {own.parts.as<backend::ShapePart>(), int(given.parts.size()), own.numbers.as<double>(),
                              own.table.as<int>()};
            own.marks = DeviceBuffer(stream_.ordinal(), std::size_t(own.body.marks_of(dimensions())));
            own.body.marks = own.marks.as<unsigned char>();
            make_cuts(own);
            all.push_back(own.body);
            end = std::max(end, given.end());
        }
        upload(all_, stream_, all);
        scaling_.set_pose_series(end);
        streams_.set_ahead(!bodies_.empty());
    }

    void expect_kernels() const {
        if (!bodies_.empty()) {
            for (const char* name : {"mark_body", "find_body_cuts", "apply_body_walls", "fill_body"}) {
                kernels_.expect(kernel(name));
            }
        }
    }

    /// Changes what comes in around all bodies: first the walls of all of them, whose formulas read what the other
    /// changes replace. What needs poses alone is done beside the update before, unless the launches of several blocks
    /// are collected, which is for blocks that take less time than the launches.
    void change_incoming(const StateArguments& state, bool programmatic_launch) const {
        if (bodies_.empty()) {
            return;
        }
        const bool ahead = stream_.batch() == nullptr;
        const bool goes_ahead = ahead && streams_.begin_ahead();
        const WorkStream& stream = ahead ? streams_.ahead() : stream_;
        // One on each multiprocessor: more would take the room of thread blocks of the update.
        const unsigned most_blocks = goes_ahead ? multiprocessors_ : std::numeric_limits<unsigned>::max();
        mark(stream, state, programmatic_launch && !ahead, most_blocks);
        for (std::size_t k = 0; k < bodies_.size(); ++k) {
            launch("find_body_cuts", stream, link_threads(k), state, k, programmatic_launch && !ahead, most_blocks);
        }
        if (ahead) {
            streams_.end_ahead();
        }
        for (std::size_t k = 0; k < bodies_.size(); ++k) {  // the first one comes after kernels of two streams
            const bool may_begin_early = programmatic_launch && !(ahead && k == 0);
            launch("apply_body_walls", stream_, link_threads(k), state, k, may_begin_early);
        }
        for (std::size_t k = 0; k < bodies_.size(); ++k) {
            launch("fill_body", stream_, bodies_[k].body.cells(), state, k, programmatic_launch);
        }
    }

    backend::ForceAndTorque force(std::size_t which, const backend::TorqueCenter& center) const override {
        const LaunchDimensions dimensions = of_sums(which);
        const DeviceBuffer sums(stream_.ordinal(), std::size_t{6} * dimensions.blocks * sizeof(double));
        launch_force(sampled_().state(), which, center, dimensions, sums.as<double>());
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
            block, of_sums(which),
            [this, which, center, state = block.state](const LaunchDimensions& dimensions, double* out) {
                launch_force(state(), which, center, dimensions, out);
            });
    }

private:
    struct Body {
        DeviceBuffer parts, numbers, table, marks;
        DeviceBuffer cuts, cut_lists;  // all cuts; numbers of the parts that they are found in
        BodyCuts found{};
        backend::MovingBody body;
    };

    int dimensions() const {
        return backend::with_stencil(spec_.stencil, [](auto s) { return decltype(s)::D; });
    }
    /// Makes room for as many cuts as a body of the size of its box may have. One with more of a surface has more.
    void make_cuts(Body& own) const {
        constexpr Index links_of_cell = 8;
        const int(&n)[3] = own.body.size;
        const Index surface = 2 * (Index(n[0]) * n[1] + Index(n[1]) * n[2] + Index(n[2]) * n[0]);
        const auto room = std::min<Index>(links_of_cell * surface, std::numeric_limits<int>::max());
        const unsigned parts = flat(shared_by_threads(own.body.cells())).blocks;
        own.cuts = DeviceBuffer(stream_.ordinal(), std::size_t(room) * sizeof(BodyCut));
        own.cut_lists = DeviceBuffer(stream_.ordinal(), (2 * std::size_t(parts) + 1) * sizeof(UInt32));
        stream_.clear(own.cut_lists.address(), own.cut_lists.bytes());
        auto* numbers = own.cut_lists.as<UInt32>();
        own.found = {own.cuts.as<BodyCut>(),
                     UInt32(room),
                     numbers,
                     numbers + 1,
                     reinterpret_cast<int*>(numbers + 1 + parts),
                     parts};
    }
    KernelName kernel(const char* name) const { return state_kernel(spec_, "moving_bodies.h", name); }
    void launch(const char* name, const WorkStream& stream, Index threads, const StateArguments& state,
                std::size_t which, bool programmatic_launch,
                unsigned most_blocks = std::numeric_limits<unsigned>::max()) const {
        LaunchDimensions dimensions = flat(threads);
        dimensions.blocks = std::min(dimensions.blocks, most_blocks);
        dimensions.programmatic_launch = programmatic_launch;
        kernels_.get(kernel(name)).launch(stream, dimensions, arguments(state, which));
    }
    /// Finds which cells are in each body in the coming step.
    void mark(const WorkStream& stream, const StateArguments& state, bool programmatic_launch,
              unsigned most_blocks = std::numeric_limits<unsigned>::max()) const {
        for (std::size_t k = 0; k < bodies_.size(); ++k) {
            launch("mark_body", stream, shared_by_threads(bodies_[k].body.marks_of(dimensions())), state, k,
                   programmatic_launch, most_blocks);
        }
    }
    MovingBodyArguments arguments(const StateArguments& state, std::size_t which) const {
        const backend::MovingBodies bodies{bodies_[which].body, int(which), int(bodies_.size()),
                                           all_.as<backend::MovingBody>()};
        return {state, bodies, place_, scaling_.arguments_of_poses(), bodies_[which].found};
    }
    /// The threads that count the links of a body.
    Index link_threads(std::size_t which) const { return shared_by_threads(bodies_[which].body.cells()); }
    static Index shared_by_threads(Index cells) { return (cells + cells_of_thread - 1) / cells_of_thread; }
    LaunchDimensions of_sums(std::size_t which) const {
        LaunchDimensions found = flat(link_threads(which));
        found.blocks = std::min(found.blocks, 1024U);
        return found;
    }
    void launch_force(const StateArguments& state, std::size_t which, const backend::TorqueCenter& center,
                      const LaunchDimensions& dimensions, double* out) const {
        mark(stream_, state, false);  // as it is beside the update, maybe at the same time
        kernels_.get(kernel("moving_body_force"))
            .launch(stream_, dimensions, arguments(state, which), center.at[0], center.at[1], center.at[2],
                    int(center.moves), out);
    }

    const backend::BlockSpec& spec_;
    StepStreams& streams_;
    const WorkStream& stream_ = streams_.main();
    KernelSet& kernels_;
    DeviceScaling& scaling_;
    Index& revision_;
    std::function<SampledBlock()> sampled_;
    std::vector<Body> bodies_;
    DeviceBuffer all_;  // what the kernels know of each
    const unsigned multiprocessors_ = unsigned(device_info(stream_.ordinal()).multiprocessors);
    backend::MovingPlace place_{};
};

}  // namespace lbm::cuda
