// Collects the launches of several blocks of one GPU, and launches equal ones together, with the arguments of all of
// the blocks (Members in kernels/arguments.h).
#pragma once

#include <cstddef>
#include <vector>

#include "../step_batch.h"
#include "kernel_set.h"
#include "step_streams.h"

namespace lbm::cuda {

class LaunchBatch final : public backend::StepBatch {
public:
    /// The streams are those of the blocks, none of them divided, and must outlive the batch.
    LaunchBatch(int ordinal, const std::string& architecture, StepStreams& first, std::vector<StepStreams*> others);

    void begin() override;
    void run(const std::vector<std::function<void()>>& work) override;
    void end() override;

    /// Called by Kernel: adds a launch of the block whose work is being requested. Throws std::logic_error for a kernel
    /// that does not take Members of one struct of arguments.
    void add(const Kernel& kernel, const LaunchDimensions& dimensions, const std::vector<KernelArgument>& arguments);

private:
    struct Launch {
        const Kernel* kernel;
        LaunchDimensions dimensions;
        std::vector<std::byte> arguments;  // the one struct of them that kernels of steps take

        /// Whether both are of one kernel. The number of thread blocks may differ: kernels look at their own bounds.
        bool goes_with(const Launch& other) const;
    };
    using Launches = std::vector<const Launch*>;

    /// The launches that have been collected, those together that go with each other, in the order of their work.
    std::vector<Launches> groups() const;
    /// How many blocks the kernel serves with which a group is launched: a power of two, so that few kernels are
    /// compiled while members come and go, or as many as the parameters of a kernel have room for.
    std::size_t members_a_launch(const Launches& group) const;
    KernelName name_of(const Launches& group) const;
    void launch(const Launches& group);

    StepStreams& first_;
    std::vector<StepStreams*> others_;
    KernelSet kernels_;
    std::size_t parameter_bytes_;
    std::vector<std::vector<Launch>> collected_;  // by block
    std::size_t current_ = 0;                     // the block whose work is being requested
};

}  // namespace lbm::cuda
