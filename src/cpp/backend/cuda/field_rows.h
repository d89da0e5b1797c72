// A field of a user's in the arithmetic type in a GPU's memory, in rows as updates read them.
#pragma once

#include "device.h"

namespace lbm::cuda {

class FieldRows {
public:
    std::size_t bytes() const { return rows_.bytes(); }
    /// Null without a field.
    template <class T>
    T* as() const {
        return rows_.as<T>();
    }

    /// So many bytes of rows, which `put` fills once they are there; null for none. An error leaves none.
    template <class Put>
    void set(const WorkStream& stream, std::size_t bytes, const double* field, Put&& put) {
        if (field == nullptr) {
            rows_ = DeviceBuffer();
            return;
        }
        if (rows_.bytes() != bytes) {
            DeviceBuffer all(stream.ordinal(), bytes);
            stream.clear(all.address(), bytes);
            rows_ = std::move(all);
        }
        try {
            put();
        } catch (...) {
            rows_ = DeviceBuffer();
            throw;
        }
    }

private:
    DeviceBuffer rows_;
};

}  // namespace lbm::cuda
