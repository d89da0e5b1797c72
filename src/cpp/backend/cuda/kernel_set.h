// The kernels that a block has on one GPU, by name; those that a step will want are compiled side by side.
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

    /// Begins to compile a kernel and returns at once; what goes wrong shows when the kernel is wanted.
    void expect(const KernelName& name);

    /// The kernel, compiled and loaded if it has not been; waits for it if it is being compiled.
    const Kernel& get(const KernelName& name);

private:
    int ordinal_;
    std::string architecture_;
    std::map<std::string, std::unique_ptr<Kernel>> kernels_;
    std::map<std::string, std::future<KernelImage>> coming_;
};

}  // namespace lbm::cuda
