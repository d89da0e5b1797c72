// Looks kernels up by name, and compiles them in threads.
#include "kernel_set.h"

#include <system_error>

namespace lbm::cuda {

void KernelSet::expect(const KernelName& name) {
    if (!kernels_.contains(name) && !coming_.contains(name)) {
        try {
            coming_[name] = std::async(std::launch::async, compile, name, architecture_, run_time::cache_folder());
        } catch (const std::system_error&) {  // no thread available: get() compiles it
            coming_.erase(name);
        }
    }
}

const Kernel& KernelSet::get(const KernelName& name) {
    const auto found = kernels_.find(name);
    if (found != kernels_.end()) {
        return *found->second;
    }
    KernelImage image;
    const auto coming = coming_.find(name);
    if (coming == coming_.end()) {
        image = compile(name, architecture_, run_time::cache_folder());
    } else {
        std::future<KernelImage> promised = std::move(coming->second);
        coming_.erase(coming);
        image = promised.get();
    }
    return *(kernels_[name] = std::make_unique<Kernel>(ordinal_, image, name));
}

}  // namespace lbm::cuda
