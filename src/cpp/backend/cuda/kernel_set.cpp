// Kernels by name, and threads that compile them.
#include "kernel_set.h"

namespace lbm::cuda {

void KernelSet::expect(const KernelName& name) {
    if (kernels_.count(name.name) == 0 && coming_.count(name.name) == 0) {
        coming_[name.name] = std::async(std::launch::async, compile, name, architecture_);
    }
}

const Kernel& KernelSet::get(const KernelName& name) {
    std::unique_ptr<Kernel>& kernel = kernels_[name.name];
    if (kernel == nullptr) {
        const auto coming = coming_.find(name.name);
        if (coming == coming_.end()) {
            kernel = std::make_unique<Kernel>(ordinal_, compile(name, architecture_));
        } else {
            std::future<KernelImage> image = std::move(coming->second);
            coming_.erase(coming);
            kernel = std::make_unique<Kernel>(ordinal_, image.get());
        }
    }
    return *kernel;
}

}  // namespace lbm::cuda
