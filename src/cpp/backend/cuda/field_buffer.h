// A field in a GPU's memory, which other libraries may use and keep.
#pragma once

#include "../device_array.h"
#include "device.h"

namespace lbm::cuda {

class FieldBuffer final : public backend::DeviceArray {
public:
    FieldBuffer(int ordinal, std::size_t bytes, int components, std::size_t item)
        : buffer_(ordinal, bytes), ordinal_(ordinal), components_(components), item_(item) {}

    void* data() const override { return buffer_.as<void>(); }
    int ordinal() const override { return ordinal_; }
    int components() const override { return components_; }
    std::size_t item() const override { return item_; }

private:
    DeviceBuffer buffer_;
    int ordinal_, components_;
    std::size_t item_;
};

}  // namespace lbm::cuda
