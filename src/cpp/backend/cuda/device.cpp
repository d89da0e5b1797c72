// Contexts, memory, streams and events of the CUDA driver.
#include "device.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "../../process/fork.h"

namespace lbm::cuda {
namespace {

/// The primary context of a GPU, which this process's other users of CUDA share. It is never released.
Context context_of(int ordinal) {
    static process::Mutex mutex;
    static auto& contexts = *new std::map<int, Context>;  // never destroyed: threads may still step at exit
    driver();                                             // throws in a forked child, before the lock
    const std::lock_guard<process::Mutex> lock(mutex);
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
        give_back_on(ordinal_, [this] { driver().memory_free(address_); });
    }
}

bool can_access_peer(int ordinal, int peer) {
    Device own = 0, other = 0;
    driver().check(driver().device_get(&own, ordinal), "cuDeviceGet");
    driver().check(driver().device_get(&other, peer), "cuDeviceGet");
    int possible = 0;
    driver().check(driver().device_can_access_peer(&possible, own, other), "cuDeviceCanAccessPeer");
    return possible != 0;
}

bool enable_peer_access(int ordinal, int peer) {
    if (!can_access_peer(ordinal, peer)) {
        return false;
    }
    constexpr int already = 704;
    const DeviceScope scope(ordinal);
    const int result = driver().context_enable_peer(context_of(peer), 0);
    if (result != already) {
        driver().check(result, "cuCtxEnablePeerAccess");
    }
    return true;
}

std::shared_ptr<void> pinned_memory(int ordinal, std::size_t bytes) {
    constexpr unsigned portable = 1, mapped = 2;
    const DeviceScope scope(ordinal);
    void* memory = nullptr;
    driver().check(driver().host_allocate(&memory, std::max<std::size_t>(bytes, 1), portable | mapped),
                   "cuMemHostAlloc");
    return {memory, [ordinal](void* p) { give_back_on(ordinal, [p] { driver().host_free(p); }); }};
}

StreamEvent::StreamEvent(int ordinal, Use use) : ordinal_(ordinal) {
    constexpr unsigned timing = 0, no_timing = 2, interprocess = 4;
    const DeviceScope scope(ordinal);
    const unsigned flags = use == Use::Time             ? timing
                           : use == Use::OtherProcesses ? no_timing | interprocess
                                                        : no_timing;
    driver().check(driver().event_create(&event_, flags), "cuEventCreate");
}

StreamEvent::StreamEvent(int ordinal, const IpcHandle& shared) : ordinal_(ordinal) {
    const DeviceScope scope(ordinal);
    driver().check(driver().event_open(&event_, shared), "cuIpcOpenEventHandle");
}

IpcHandle StreamEvent::share() const {
    const DeviceScope scope(ordinal_);
    IpcHandle handle{};
    driver().check(driver().event_share(&handle, event_), "cuIpcGetEventHandle");
    return handle;
}

StreamEvent::~StreamEvent() {
    give_back_on(ordinal_, [this] { driver().event_destroy(event_); });
}

void StreamEvent::set(const WorkStream& stream) {
    const DeviceScope scope(ordinal_);
    driver().check(driver().event_record(event_, stream.get()), "cuEventRecord");
}

void StreamEvent::make_wait(const WorkStream& stream) const {
    const DeviceScope scope(stream.ordinal());
    driver().check(driver().stream_wait(stream.get(), event_, 0), "cuStreamWaitEvent");
}

void StreamEvent::wait() const {
    const DeviceScope scope(ordinal_);
    driver().check(driver().event_synchronize(event_), "cuEventSynchronize");
}

double StreamEvent::seconds_since(const StreamEvent& earlier) const {
    const DeviceScope scope(ordinal_);
    float milliseconds = 0;
    driver().check(driver().event_elapsed(&milliseconds, earlier.event_, event_), "cuEventElapsedTime");
    return 1e-3 * double(milliseconds);
}

WorkStream::WorkStream(int ordinal, Priority priority) : ordinal_(ordinal) {
    constexpr unsigned non_blocking = 1;
    const DeviceScope scope(ordinal);
    int least = 0, greatest = 0;
    driver().check(driver().stream_priorities(&least, &greatest), "cuCtxGetStreamPriorityRange");
    driver().check(driver().stream_create(&stream_, non_blocking, priority == Priority::High ? greatest : least),
                   "cuStreamCreateWithPriority");
}

WorkStream::~WorkStream() {
    give_back_on(ordinal_, [this] { driver().stream_destroy(stream_); });
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

void WorkStream::copy_to_gpu(DevicePointer to, int ordinal, DevicePointer from, std::size_t bytes) const {
    Context own = context_of(ordinal_), other = context_of(ordinal);
    const DeviceScope scope(ordinal_);
    driver().check(driver().copy_peer(to, other, from, own, bytes, stream_), "cuMemcpyPeerAsync");
}

void WorkStream::copy_box(const BoxCopy& copy) const {
    const DeviceScope scope(ordinal_);
    driver().check(driver().copy_box(&copy, stream_), "cuMemcpy3DAsync");
}

void WorkStream::clear(DevicePointer memory, std::size_t bytes) const {
    const DeviceScope scope(ordinal_);
    driver().check(driver().set_bytes(memory, 0, bytes, stream_), "cuMemsetD8Async");
}

}  // namespace lbm::cuda
