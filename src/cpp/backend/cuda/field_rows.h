// A field given by a user, such as a body force, in a GPU's memory: in the arithmetic type and in the row layout that
// update kernels read.
#pragma once

#include "gpu_arrays.h"

namespace lbm::cuda {

class FieldRows {
public:
    std::size_t bytes() const { return rows_.bytes(); }
    /// The rows; null without a field.
    template <class T>
    T* as() const {
        return rows_.as<T>();
    }

    /// Allocates `bytes` for the rows and calls put() to fill them; a `field` that is none removes them. If put()
    /// throws, there is no field.
    template <class Put>
    void set(const WorkStream& stream, std::size_t bytes, const FieldSource& field, Put&& put) {
        if (field.empty()) {
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
