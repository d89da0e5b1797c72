// Numbers that a thread asks for long before it needs them, and has no register for until then: they are copied to the
// shared memory.
#pragma once

namespace lbm::cuda {

/// Lets a number of four bytes be copied to shared memory. Before the thread reads it, it calls wait_for_copies().
__device__ inline void copy_async(int* shared, const void* from) {
#if __CUDA_ARCH__ >= 800
    const auto to = __cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"l"(to), "l"(from) : "memory");
#else
    *shared = *static_cast<const int*>(from);
#endif
}

/// Waits for all copies that the thread has asked for.
__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace lbm::cuda
