// Checks of NumPy arrays: shape, memory layout and number type are checked before a pointer is taken.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace lbm::bindings {

namespace py = pybind11;

inline std::string shape_text(const std::vector<py::ssize_t>& shape) {
    std::string text = "(";
    for (std::size_t k = 0; k < shape.size(); ++k) {
        text += (k > 0 ? ", " : "") + std::to_string(shape[k]);
    }
    return text + ")";
}

inline void require_shape(const char* name, const py::array& array, const std::vector<py::ssize_t>& shape) {
    const std::vector<py::ssize_t> given(array.shape(), array.shape() + array.ndim());
    if (given != shape) {
        throw std::invalid_argument(std::string(name) + ": shape " + shape_text(given) + " given, " +
                                    shape_text(shape) + " needed");
    }
    constexpr int needed = int(py::array::c_style) | int(py::detail::npy_api::NPY_ARRAY_ALIGNED_);
    if ((array.flags() & needed) != needed) {
        throw std::invalid_argument(std::string(name) + ": an aligned C-contiguous array is needed");
    }
}

inline void require_writeable(const char* name, const py::array& array) {
    if (!array.writeable()) {
        throw std::invalid_argument(std::string(name) + ": a writeable array is needed");
    }
}

/// Calls body(data pointer) for a writeable array of float32 or float64.
template <class Body>
void with_floats(const char* name, py::array& array, Body&& body) {
    require_writeable(name, array);
    if (py::isinstance<py::array_t<float>>(array)) {
        body(static_cast<float*>(array.mutable_data()));
    } else if (py::isinstance<py::array_t<double>>(array)) {
        body(static_cast<double*>(array.mutable_data()));
    } else {
        throw std::invalid_argument(std::string(name) + ": float32 or float64 is needed");
    }
}

/// A contiguous and aligned array of doubles; pybind11 converts other arrays by copying them.
using Doubles = py::array_t<double, int(py::array::c_style) | int(py::array::forcecast) |
                                        int(py::detail::npy_api::NPY_ARRAY_ALIGNED_)>;

inline void require_finite(const char* name, const Doubles& array) {
    if (!std::all_of(array.data(), array.data() + array.size(), [](double value) { return std::isfinite(value); })) {
        throw std::invalid_argument(std::string(name) + ": a value that is not finite given");
    }
}

inline std::vector<double> to_vector(const char* name, const Doubles& array) {
    require_finite(name, array);
    return std::vector<double>(array.data(), array.data() + array.size());
}

}  // namespace lbm::bindings
