// Loads modules, launches kernels and queries their properties with the CUDA driver.
#include "kernel.h"

#include <algorithm>

#include "launch_batch.h"

namespace lbm::cuda {

Kernel::Kernel(int ordinal, const KernelImage& image, KernelName name) : ordinal_(ordinal), name_(std::move(name)) {
    const DeviceScope scope(ordinal);
    driver().check(driver().module_load(&module_, image.code.data()), "cuModuleLoadData");
    driver().check(driver().module_function(&function_, module_, image.symbol.c_str()), "cuModuleGetFunction");
}

Kernel::~Kernel() {
    give_back_on(ordinal_, [this] { driver().module_unload(module_); });
}

void Kernel::launch_with(const WorkStream& stream, const LaunchDimensions& dimensions,
                         const std::vector<KernelArgument>& arguments) const {
    if (LaunchBatch* batch = stream.batch()) {
        batch->add(*this, dimensions, arguments);
        return;
    }
    std::vector<const void*> pointers(arguments.size());
    std::transform(arguments.begin(), arguments.end(), pointers.begin(), [](auto bytes) { return bytes.data(); });
    const DeviceScope scope(ordinal_);
    LaunchAttribute early{6, 0, 1, {}};
    const LaunchConfig config{{dimensions.blocks, dimensions.members, 1},
                              {dimensions.block_x, dimensions.block_y, 1},
                              dimensions.shared_bytes,
                              stream.get(),
                              &early,
                              dimensions.programmatic_launch ? 1U : 0U};
    driver().check(driver().launch(&config, function_, pointers.data(), nullptr), "cuLaunchKernelEx");
}

void Kernel::allow_shared_memory(unsigned bytes) const {
    const DeviceScope scope(ordinal_);
    driver().check(driver().set_function_attribute(function_, int(FunctionAttribute::DynamicSharedBytes), int(bytes)),
                   "cuFuncSetAttribute");
}

int Kernel::registers() const {
    int value = 0;
    driver().check(driver().function_attribute(&value, int(FunctionAttribute::Registers), function_),
                   "cuFuncGetAttribute");
    return value;
}

int Kernel::local_bytes() const {
    int value = 0;
    driver().check(driver().function_attribute(&value, int(FunctionAttribute::LocalBytes), function_),
                   "cuFuncGetAttribute");
    return value;
}

int Kernel::blocks_at_once(int threads) const {
    const DeviceScope scope(ordinal_);
    int value = 0;
    driver().check(driver().occupancy(&value, function_, threads, 0), "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return value;
}

}  // namespace lbm::cuda
