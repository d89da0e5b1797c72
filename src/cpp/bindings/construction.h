// Who may make objects of the module's classes.
#pragma once

#include <pybind11/pybind11.h>

namespace lbm::bindings {

namespace py = pybind11;

/// Objects come from functions of the module alone.
inline void forbid_new(py::handle type) { reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new = nullptr; }

/// Objects come from calls of the class alone. What `__new__` makes without `__init__`, and so copy and pickle, would
/// be memory in which nothing has been constructed; Python refuses it for a class with a slot of its own.
inline void forbid_bare_new(py::handle type) {
    reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new = [](PyTypeObject* of, PyObject*, PyObject*) {
        return py::detail::make_new_instance(of);
    };
}

}  // namespace lbm::bindings
