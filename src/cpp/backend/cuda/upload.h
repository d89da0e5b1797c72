// Uploads host arrays to a GPU's memory.
#pragma once

#include <vector>

#include "device.h"

namespace lbm::cuda {

/// Resizes `buffer` to the size of the data and copies them; returns when the copy has completed.
template <class T>
void upload(DeviceBuffer& buffer, const WorkStream& stream, const T* data, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (buffer.bytes() != bytes) {
        buffer = DeviceBuffer(stream.ordinal(), bytes);
    }
    if (bytes > 0) {
        stream.copy_to_device(buffer.address(), data, bytes);
        stream.synchronize();
    }
}

template <class T>
void upload(DeviceBuffer& buffer, const WorkStream& stream, const std::vector<T>& data) {
    upload(buffer, stream, data.data(), data.size());
}

}  // namespace lbm::cuda
