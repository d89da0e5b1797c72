// Maps memory before guard pages.
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "error.h"

namespace emulated {
namespace {

constexpr std::size_t alignment = 256;  // which cuMemAlloc guarantees

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

std::uintptr_t Memory::map(int device, std::size_t bytes) {
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    const std::size_t used = rounded(bytes, alignment), whole = rounded(used, page);
    void* mapped = mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        throw Error(OutOfMemory, "the host has no memory left");
    }
    mprotect(static_cast<char*>(mapped) + whole, page, PROT_NONE);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(mapped) + whole - used;
    std::memset(reinterpret_cast<void*>(begin), 0xFF, used);
    all_[begin] = {device, bytes, mapped, whole + page};
    return begin;
}

std::uintptr_t Memory::allocate(int device, std::size_t bytes) {
    if (bytes == 0) {
        throw Error(InvalidValue, "no bytes are asked for");
    }
    if (bytes > free_bytes(device)) {
        throw Error(OutOfMemory, "");
    }
    used_[device] += bytes;
    return map(device, bytes);
}

void Memory::free(std::uintptr_t address) {
    const auto found = all_.find(address);
    if (found == all_.end()) {
        throw Error(InvalidValue, "what is freed is no beginning of allocated memory");
    }
    used_[found->second.device] -= found->second.bytes;
    munmap(found->second.mapped, found->second.mapped_bytes);
    all_.erase(found);
}

std::size_t Memory::free_bytes(int device) const {
    const auto found = used_.find(device);
    return bytes_ - (found == used_.end() ? 0 : found->second);
}

const std::pair<const std::uintptr_t, Memory::Allocation>* Memory::find(std::uintptr_t address,
                                                                        std::size_t bytes) const {
    auto found = all_.upper_bound(address);
    if (found == all_.begin()) {
        return nullptr;
    }
    --found;
    return address + bytes <= found->first + found->second.bytes ? &*found : nullptr;
}

Memory::Range Memory::range(std::uintptr_t address, std::size_t bytes) const {
    const auto* found = find(address, bytes);
    if (found == nullptr) {
        throw Error(InvalidValue, "an address that is not in allocated memory");
    }
    return {found->first, found->second.bytes};
}

int Memory::device_of(std::uintptr_t address) const {
    const auto* found = find(address, 1);
    return found == nullptr ? -1 : found->second.device;
}

void* Memory::allocate_host(std::size_t bytes) {
    const std::uintptr_t address = map(-1, bytes);
    used_[-1] += bytes;
    return reinterpret_cast<void*>(address);
}

void Memory::free_host(void* memory) { free(reinterpret_cast<std::uintptr_t>(memory)); }

bool Memory::is_pinned(const void* memory, std::size_t bytes) const {
    const auto* found = find(reinterpret_cast<std::uintptr_t>(memory), bytes);
    return found != nullptr && found->second.device < 0;
}

}  // namespace emulated
