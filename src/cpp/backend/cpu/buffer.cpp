// Allocates the memory of a buffer.
#include "buffer.h"

#include <sys/sysinfo.h>

#include <new>

namespace lbm::cpu {
namespace {

/// Bytes of memory plus swap space; a program that touches more is killed.
std::size_t machine_bytes() {
    struct sysinfo info {};
    return sysinfo(&info) == 0 ? (info.totalram + info.totalswap) * std::size_t(info.mem_unit) : ~std::size_t(0);
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes > machine_bytes()) {
        throw std::bad_alloc();
    }
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    memory_ = memory;
    madvise(memory_, bytes_, MADV_HUGEPAGE);
}

}  // namespace lbm::cpu
