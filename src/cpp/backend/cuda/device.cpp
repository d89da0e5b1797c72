// Contexts, memory and streams of the CUDA driver.
#include "device.h"

#include <map>
#include <mutex>

namespace lbm::cuda {
namespace {

/// The primary context, which this process shares with every other user of the GPU; kept to the end.
Context context_of(int ordinal) {
    static std::mutex mutex;
    static std::map<int, Context> contexts;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = contexts.find(ordinal);
    if (found != contexts.end()) {
        return found->second;
    }
    Device device = 0;
    driver().check(driver().device_get(&device, ordinal), "cuDeviceGet");
    Context context = nullptr;
    driver().check(driver().context_retain(&context, device), "cuDevicePrimaryCtxRetain");
    contexts[ordinal] = context;
    return context;
}

}  // namespace

DeviceScope::DeviceScope(int ordinal) {
    driver().check(driver().context_push(context_of(ordinal)), "cuCtxPushCurrent");
}

DeviceScope::~DeviceScope() {
    Context popped = nullptr;
    driver().context_pop(&popped);
}

DeviceBuffer::DeviceBuffer(int ordinal, std::size_t bytes) : ordinal_(ordinal), bytes_(bytes) {
    if (bytes == 0) {
        return;
    }
    const DeviceScope scope(ordinal);
    driver().check(driver().memory_allocate(&address_, bytes), "cuMemAlloc");
}

DeviceBuffer::~DeviceBuffer() {
    if (address_ != 0) {
        const DeviceScope scope(ordinal_);
        driver().memory_free(address_);
    }
}

WorkStream::WorkStream(int ordinal) : ordinal_(ordinal) {
    constexpr unsigned non_blocking = 1;
    const DeviceScope scope(ordinal);
    driver().check(driver().stream_create(&stream_, non_blocking), "cuStreamCreate");
}

WorkStream::~WorkStream() {
    const DeviceScope scope(ordinal_);
    driver().stream_destroy(stream_);
}

void WorkStream::synchronize() const {
    const DeviceScope scope(ordinal_);
    driver().check(driver().stream_synchronize(stream_), "cuStreamSynchronize");
}

void WorkStream::copy_to_device(DevicePointer to, const void* from, std::size_t bytes) const {
    const DeviceScope scope(ordinal_);
    driver().check(driver().copy_to_device(to, from, bytes, stream_), "cuMemcpyHtoDAsync");
}

void WorkStream::copy_to_host(void* to, DevicePointer from, std::size_t bytes) const {
    const DeviceScope scope(ordinal_);
    driver().check(driver().copy_to_host(to, from, bytes, stream_), "cuMemcpyDtoHAsync");
}

}  // namespace lbm::cuda
