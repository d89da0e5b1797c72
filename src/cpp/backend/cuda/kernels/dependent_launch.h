// Programmatic dependent launch: a kernel may start before the previous one in the stream has ended. Each kernel lets
// the next one start at once, and waits for the previous one before it reads or writes the state.
#pragma once

namespace lbm::cuda {

__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace lbm::cuda
