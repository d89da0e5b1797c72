// Measures the memory bandwidth of a plain copy on a GPU.
#include <chrono>

#include "cuda_block.h"
#include "kernel.h"

namespace lbm::cuda {

double copy_bandwidth(int ordinal, std::size_t bytes, double seconds) {
    if (bytes < 16 || !(seconds >= 0 && seconds < 3600)) {
        throw std::invalid_argument("copy_bandwidth: " + std::to_string(bytes) + " bytes and " +
                                    std::to_string(seconds) + " seconds given, must be at least 16 and 0 to 3600");
    }
    const DeviceInfo device = device_info(ordinal);
    const Kernel copy(
        ordinal, compile({"copy_bandwidth.h", "lbm::cuda::copy"}, device.architecture(), run_time::cache_folder()));
    const WorkStream stream(ordinal);
    const auto count = static_cast<long long>(bytes / 16);
    const DeviceBuffer from(ordinal, std::size_t(count) * 16), to(ordinal, std::size_t(count) * 16);
    const LaunchDimensions dimensions{unsigned((count + 1023) / 1024), 256, 1};
    copy.launch(stream, dimensions, from.address(), to.address(), count);
    stream.synchronize();
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double passed = 0;
    long long copies = 0;
    do {
        for (int k = 0; k < 16; ++k) {
            copy.launch(stream, dimensions, from.address(), to.address(), count);
        }
        stream.synchronize();
        copies += 16;
        passed = std::chrono::duration<double>(Clock::now() - start).count();
    } while (passed < seconds);
    return 2.0 * 16 * double(count) * double(copies) / passed;
}

}  // namespace lbm::cuda
