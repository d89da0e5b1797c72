// Owners of the resources of one GPU: the scope in which it is current, memory, streams and events.
#pragma once

#include <bit>
#include <memory>
#include <utility>

#include "driver.h"

namespace lbm::cuda {

/// Makes a GPU the current one of the calling thread during its lifetime, and restores the previous one afterwards, so
/// that other users of CUDA in the process are not affected.
class DeviceScope {
public:
    explicit DeviceScope(int ordinal);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;
};

/// Calls give_back() with a GPU as the current one, in destructors: failures are ignored. Nothing is called in a forked
/// child of a process that used CUDA, or when CUDA has already shut down with the program.
template <class GiveBack>
void give_back_on(int ordinal, GiveBack&& give_back) noexcept {
    try {
        const DeviceScope scope(ordinal);
        give_back();
    } catch (const std::exception&) {
    }
}

/// Owns uninitialised memory of a GPU.
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    DeviceBuffer(int ordinal, std::size_t bytes);
    ~DeviceBuffer();
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        swap(other);
        return *this;
    }

    DevicePointer address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    /// The address as a pointer, as kernel arguments need it; null for an empty buffer.
    template <class T>
    T* as() const {
        return std::bit_cast<T*>(address_);
    }

private:
    void swap(DeviceBuffer& other) noexcept {
        std::swap(ordinal_, other.ordinal_);
        std::swap(address_, other.address_);
        std::swap(bytes_, other.bytes_);
    }

    int ordinal_ = 0;
    DevicePointer address_ = 0;
    std::size_t bytes_ = 0;
};

/// Whether kernels on one GPU can be allowed to access the memory of another.
bool can_access_peer(int ordinal, int peer);

/// Enables kernels on one GPU to access the memory of another; returns false if the machine does not support it.
bool enable_peer_access(int ordinal, int peer);

/// Allocates page-locked host memory, which all GPUs can access at the same address.
std::shared_ptr<void> pinned_memory(int ordinal, std::size_t bytes);

class WorkStream;

/// An event: a point in the work of a stream.
class StreamEvent {
public:
    enum class Use { Order, OtherProcesses, Time };

    explicit StreamEvent(int ordinal, Use use = Use::Order);
    /// Opens an event of another process.
    StreamEvent(int ordinal, const IpcHandle& shared);
    ~StreamEvent();
    StreamEvent(const StreamEvent&) = delete;
    StreamEvent& operator=(const StreamEvent&) = delete;

    IpcHandle share() const;

    /// Records the event after all work enqueued in the stream so far. The stream must be of the same GPU.
    void set(const WorkStream& stream);
    /// Makes all work enqueued in the stream from now on wait for the event. The stream may be of any GPU.
    void make_wait(const WorkStream& stream) const;
    /// Blocks the calling thread until the event has completed.
    void wait() const;
    /// Seconds between two events of Use::Time, both of which have completed.
    double seconds_since(const StreamEvent& earlier) const;

private:
    int ordinal_;
    Event event_ = nullptr;
};

/// The priority of a stream: the GPU prefers the thread blocks of streams of high priority.
enum class Priority { Usual, High };

class LaunchBatch;

/// A CUDA stream.
class WorkStream {
public:
    explicit WorkStream(int ordinal, Priority priority = Priority::Usual);
    ~WorkStream();
    WorkStream(const WorkStream&) = delete;
    WorkStream& operator=(const WorkStream&) = delete;

    Stream get() const { return stream_; }
    int ordinal() const { return ordinal_; }
    void synchronize() const;
    void copy_to_device(DevicePointer to, const void* from, std::size_t bytes) const;
    void copy_to_host(void* to, DevicePointer from, std::size_t bytes) const;
    /// Copies from memory of this stream's GPU to that of any other one, which need not be able to access it.
    void copy_to_gpu(DevicePointer to, int ordinal, DevicePointer from, std::size_t bytes) const;
    /// Copies a box of memory to another one, both of which this stream's GPU can access.
    void copy_box(const BoxCopy& copy) const;
    /// Sets memory to zero.
    void clear(DevicePointer memory, std::size_t bytes) const;

    /// The batch that collects the launches of this stream; null where they are launched at once.
    LaunchBatch* batch() const { return batch_; }
    void collect_into(LaunchBatch* batch) const { batch_ = batch; }

private:
    int ordinal_;
    Stream stream_ = nullptr;
    mutable LaunchBatch* batch_ = nullptr;
};

}  // namespace lbm::cuda
