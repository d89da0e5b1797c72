// What belongs to one GPU: the scope in which it is current, memory on it, a stream, marks in it; each freed by its
// owner.
#pragma once

#include <bit>
#include <memory>
#include <utility>

#include "driver.h"

namespace lbm::cuda {

/// While it lives the calling thread works on this GPU; other users of CUDA in the process are left as they were.
class DeviceScope {
public:
    explicit DeviceScope(int ordinal);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;
};

/// Calls give_back() on a GPU, from a destructor: what fails is passed over. Where CUDA is of the parent of this
/// process, or has ended with the program, nothing is called.
template <class GiveBack>
void give_back_on(int ordinal, GiveBack&& give_back) noexcept {
    try {
        const DeviceScope scope(ordinal);
        give_back();
    } catch (const std::exception&) {
    }
}

/// A piece of a GPU's memory, uninitialised.
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
    /// As a kernel takes it; null for an empty buffer.
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

/// Whether kernels on one GPU may read and write the memory of another.
bool can_reach_peer(int ordinal, int peer);

/// Lets kernels on one GPU read and write the memory of another; false where the machine does not allow it.
bool reach_peer(int ordinal, int peer);

/// Memory of the host that every GPU reads and writes at the same address, allocated by one of them.
std::shared_ptr<void> pinned_memory(int ordinal, std::size_t bytes);

class WorkStream;

/// A point in the work of a stream.
class StreamEvent {
public:
    enum class Use { Order, OtherProcesses, Time };

    explicit StreamEvent(int ordinal, Use use = Use::Order);
    /// That of another process.
    StreamEvent(int ordinal, const IpcHandle& shared);
    ~StreamEvent();
    StreamEvent(const StreamEvent&) = delete;
    StreamEvent& operator=(const StreamEvent&) = delete;

    IpcHandle share() const;

    /// All that the stream, of the same GPU, has been given so far.
    void set(const WorkStream& stream);
    /// What the stream, of any GPU, is given from now on begins after it.
    void make_wait(const WorkStream& stream) const;
    void wait() const;
    /// Of two marks for times, both past.
    double seconds_since(const StreamEvent& earlier) const;

private:
    int ordinal_;
    Event event_ = nullptr;
};

/// What is of high priority goes first wherever a GPU has the choice.
enum class Priority { Usual, High };

/// The order in which one GPU does its work.
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
    /// Zeroes memory.
    void clear(DevicePointer memory, std::size_t bytes) const;

private:
    int ordinal_;
    Stream stream_ = nullptr;
};

}  // namespace lbm::cuda
