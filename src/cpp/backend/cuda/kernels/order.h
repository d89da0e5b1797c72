// The order of kernels that may begin before the one before them has ended: each waits for it before it reads or writes
// the state, and lets the next one begin at once.
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
