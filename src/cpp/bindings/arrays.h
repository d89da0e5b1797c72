// Checked views of NumPy arrays: shape and layout are compared before a pointer is taken.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

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
    if ((array.flags() & py::array::c_style) == 0) {
        throw std::invalid_argument(std::string(name) + ": a C-contiguous array is needed");
    }
}

inline void require_writeable(const char* name, const py::array& array) {
    if (!array.writeable()) {
        throw std::invalid_argument(std::string(name) + ": a writeable array is needed");
    }
}

/// Calls with the data pointer of a float32 or float64 array.
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

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

inline std::vector<double> to_vector(const Doubles& array) {
    return std::vector<double>(array.data(), array.data() + array.size());
}

}  // namespace lbm::bindings
