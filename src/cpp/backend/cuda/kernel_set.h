// The kernels of a block on one GPU, by name. Those that a step will need are compiled in parallel.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <string>

#include "kernel.h"

namespace lbm::cuda {

class KernelSet {
public:
    KernelSet(int ordinal, std::string architecture) : ordinal_(ordinal), architecture_(std::move(architecture)) {}

    /// Starts to compile a kernel in a thread and returns at once; errors are thrown by get().
    void expect(const KernelName& name);

    /// Returns a kernel; compiles and loads it first if necessary, or waits until it has been compiled.
    const Kernel& get(const KernelName& name);

private:
    int ordinal_;
    std::string architecture_;
    std::map<KernelName, std::unique_ptr<Kernel>, KernelOrder> kernels_;
    std::map<KernelName, std::future<KernelImage>, KernelOrder> coming_;
};

}  // namespace lbm::cuda
