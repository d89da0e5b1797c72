// A field in the memory of a device, which other libraries can use there.
#pragma once

#include <cstddef>

namespace lbm::backend {

enum class FieldName { Density, Velocity, Populations, Temperature };

/// An array that owns its memory. Elements are floating-point numbers of `item` bytes, x fastest, then y, z and the
/// component.
class DeviceArray {
public:
    DeviceArray() = default;
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    virtual ~DeviceArray() = default;

    virtual void* data() const = 0;
    virtual int ordinal() const = 0;     // of the GPU
    virtual int components() const = 0;  // 0 for a scalar field
    virtual std::size_t item() const = 0;
};

}  // namespace lbm::backend
