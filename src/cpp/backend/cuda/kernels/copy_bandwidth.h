// A plain copy kernel, which measures the memory bandwidth of a GPU.
#pragma once

namespace lbm::cuda {

__global__ void copy(const float4* from, float4* to, long long count) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
        to[k] = from[k];
    }
}

}  // namespace lbm::cuda
