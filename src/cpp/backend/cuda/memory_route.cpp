// Copies along a route with the kernel of copy_bandwidth.h, directly or in two parts through host memory.
#include "memory_route.h"

#include <bit>
#include <cstring>

namespace lbm::cuda {

MemoryRoute::End::End(int ordinal, std::size_t bytes) : gpu(ordinal >= 0) {
    if (!gpu) {
        host.resize(bytes);
        return;
    }
    const std::string architecture =
        device_info(ordinal).architecture();  // first, as it throws if there is no such GPU
    buffer = DeviceBuffer(ordinal, bytes);
    stream = std::make_unique<WorkStream>(ordinal);
    written = std::make_unique<StreamEvent>(ordinal);
    kernel = std::make_unique<Kernel>(
        ordinal, compile({"copy_bandwidth.h", "lbm::cuda::copy"}, architecture, run_time::cache_folder()));
}

MemoryRoute::MemoryRoute(int from, int to, std::size_t bytes) : from_(from, bytes), to_(to, bytes) {
    const bool direct = from_.gpu && to_.gpu && (from == to || enable_peer_access(to, from));
    if (!direct) {
        between_ = pinned_memory(from_.gpu ? from : to, bytes);
    }
}

void MemoryRoute::launch(const End& end, DevicePointer from, DevicePointer to, std::size_t bytes) {
    const auto count = static_cast<long long>(bytes / 16);
    const LaunchDimensions dimensions{unsigned((count + 1023) / 1024), 256, 1};
    end.kernel->launch(*end.stream, dimensions, from, to, count);
}

void MemoryRoute::copy(std::size_t bytes) const {
    if (between_ == nullptr) {
        launch(to_, from_.address(), to_.address(), bytes);
        to_.stream->synchronize();
        return;
    }
    const auto between = std::bit_cast<DevicePointer>(between_.get());
    if (from_.gpu) {
        launch(from_, from_.address(), between, bytes);
        if (to_.gpu) {
            from_.written->set(*from_.stream);
            from_.written->make_wait(*to_.stream);
        } else {
            from_.stream->synchronize();
        }
    } else {
        std::memcpy(between_.get(), from_.host.data(), bytes);
    }
    if (to_.gpu) {
        launch(to_, between, to_.address(), bytes);
        to_.stream->synchronize();
    } else {
        std::memcpy(to_.host.data(), between_.get(), bytes);
    }
}

}  // namespace lbm::cuda
