// The memory of the emulated devices: memory of the host, of which every device has an account.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace emulated {

/// Each allocation ends at a page that cannot be accessed, so that a kernel that runs past its end ends the program,
/// and is filled with bytes that are NaN as numbers, so that one that reads what nobody wrote shows it.
class Memory {
public:
    /// `bytes` is the size of each device's memory.
    explicit Memory(std::size_t bytes) : bytes_(bytes) {}

    std::uintptr_t allocate(int device, std::size_t bytes);
    void free(std::uintptr_t address);
    std::size_t free_bytes(int device) const;
    std::size_t bytes() const { return bytes_; }

    struct Range {
        std::uintptr_t begin;
        std::size_t bytes;
    };
    /// The allocation in which `bytes` from an address on lie. Throws Error if there is none.
    Range range(std::uintptr_t address, std::size_t bytes) const;

    /// The device in whose memory an address is; -1 for memory of the host or none.
    int device_of(std::uintptr_t address) const;

    void* allocate_host(std::size_t bytes);
    void free_host(void* memory);
    /// Whether memory of the host is page-locked, so that copies to and from it go on while the host does.
    bool is_pinned(const void* memory, std::size_t bytes) const;

private:
    struct Allocation {
        int device;  // -1 for the host
        std::size_t bytes;
        void* mapped;
        std::size_t mapped_bytes;
    };
    std::uintptr_t map(int device, std::size_t bytes);
    const std::pair<const std::uintptr_t, Allocation>* find(std::uintptr_t address, std::size_t bytes) const;

    std::size_t bytes_;
    std::map<std::uintptr_t, Allocation> all_;
    std::map<int, std::size_t> used_;
};

}  // namespace emulated
