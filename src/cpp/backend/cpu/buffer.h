// A large, page-aligned memory buffer that no thread has touched yet, in huge pages where the system provides them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace lbm::cpu {

class Buffer {
public:
    Buffer() = default;
    /// Throws std::bad_alloc for more memory than the machine has, even if the system would overcommit it.
    explicit Buffer(std::size_t bytes);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Buffer() {
        if (memory_ != nullptr) {
            munmap(memory_, bytes_);
        }
    }

    template <class T>
    T* as() const {
        return static_cast<T*>(memory_);
    }
    std::size_t bytes() const { return bytes_; }

private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace lbm::cpu
