// What a compiled kernel and the emulated driver know of each other: the state of the thread that runs, the operations
// for which threads wait for each other, and what a kernel's library exports.
#pragma once

#include <cstddef>

namespace emulated {

struct Position {
    unsigned x, y, z;
};

constexpr int warp_size = 32;

/// The thread that runs now. Threads run one after the other, so that there is one for all kernels.
struct Machine {
    Position thread, block, block_size, grid_size;
    /// Returns when all threads of the thread block have called it or have ended.
    void (*wait_for_block)();
    /// Gives a value to the other threads of the warp, and returns those of all when they have called it too. They stay
    /// until the thread calls it a second time again.
    const unsigned long long* (*exchange)(unsigned long long value);

    int lane() const {
        return int((thread.x + block_size.x * (thread.y + block_size.y * thread.z)) % unsigned(warp_size));
    }
};

/// A kernel in its library, which has one object of this type for each kernel.
struct KernelEntry {
    void (*run)(const void* const* arguments);  // one thread of it
    int parameters;
    const std::size_t* parameter_bytes;
    const char* name;
};

/// The symbol of the pointer to the Machine in a kernel's library.
constexpr const char* machine_symbol = "emulated_machine";

}  // namespace emulated
