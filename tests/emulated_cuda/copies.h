// The functions of the emulated driver that copy memory, or set it.
#pragma once

#include "../../src/cpp/backend/cuda/driver.h"

extern "C" {
int cuMemcpyHtoDAsync_v2(lbm::cuda::DevicePointer to, const void* from, std::size_t bytes, lbm::cuda::Stream stream);
int cuMemcpyDtoHAsync_v2(void* to, lbm::cuda::DevicePointer from, std::size_t bytes, lbm::cuda::Stream stream);
int cuMemcpyPeerAsync(lbm::cuda::DevicePointer to, lbm::cuda::Context, lbm::cuda::DevicePointer from,
                      lbm::cuda::Context, std::size_t bytes, lbm::cuda::Stream stream);
int cuMemcpy3DAsync_v2(const lbm::cuda::BoxCopy* given, lbm::cuda::Stream stream);
int cuMemsetD8Async(lbm::cuda::DevicePointer to, unsigned char value, std::size_t bytes, lbm::cuda::Stream stream);
}
