// Restricts how Python may create objects of the module's classes.
#pragma once

#include <pybind11/pybind11.h>

namespace lbm::bindings {

namespace py = pybind11;

/// Only functions of the module create objects of this type.
inline void forbid_new(py::handle type) { reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new = nullptr; }

/// Only calls of the class create objects of this type. `__new__` without `__init__`, which copy and pickle use, would
/// give memory in which no C++ object has been constructed; Python refuses that for a class with its own tp_new slot.
inline void forbid_bare_new(py::handle type) {
    reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new = [](PyTypeObject* of, PyObject*, PyObject*) {
        return py::detail::make_new_instance(of);
    };
}

}  // namespace lbm::bindings
