// The shapes of the arrays that hold an engine's fields and values, and the lock by which one thread at a time uses an
// engine.
#pragma once

#include <mutex>
#include <vector>

#include "../engine/engine.h"
#include "arrays.h"
#include "no_gil.h"

namespace lbm::bindings {

using engine::Engine;

/// Holds the engine's mutex and releases the GIL during its lifetime. Throws process::ForkError in a forked child that
/// cannot use the engine.
class InUse {
public:
    explicit InUse(const Engine& e) : lock_(e.mutex()) {}

private:
    NoGil release_;  // declared first, so that no thread waits for the engine while it holds the GIL
    std::lock_guard<process::Mutex> lock_;
};

inline std::vector<py::ssize_t> array_shape(const int (&size)[3], int D, int components) {
    std::vector<py::ssize_t> shape;
    if (components > 0) {
        shape.push_back(components);
    }
    for (int d = D - 1; d >= 0; --d) {
        shape.push_back(size[d]);
    }
    return shape;
}

/// The shape of a field of the whole domain; 0 components mean a scalar field.
inline std::vector<py::ssize_t> field_shape(const Engine& e, int components) {
    return array_shape(e.domain().size, e.domain().D, components);
}

/// The shape of a field of the cells that the process knows bodies of.
inline std::vector<py::ssize_t> known_shape(const Engine& e, int components) {
    return array_shape(e.domain().known.size, e.domain().D, components);
}

/// The shape of a field of the local subdomain.
inline std::vector<py::ssize_t> window_shape(const Engine& e, int components) {
    return array_shape(e.window().size, e.domain().D, components);
}

inline std::vector<py::ssize_t> face_shape(const Engine& e, int face, int components) {
    std::vector<py::ssize_t> shape;
    if (components > 0) {
        shape.push_back(components);
    }
    for (int d = e.domain().D - 1; d >= 0; --d) {
        if (d != face / 2) {
            shape.push_back(e.domain().size[d]);
        }
    }
    return shape;
}

inline void check_body(const Engine& e, int body) {
    int bodies = 0;
    {
        const InUse use(e);  // another thread may be adding one
        bodies = e.bodies();
    }
    if (body < 0 || body >= bodies) {
        throw py::index_error("there is no body " + std::to_string(body));
    }
}

inline void check_face(const Engine& e, int face) {
    if (face < 0 || face >= 2 * e.domain().D) {
        throw py::index_error("there is no face " + std::to_string(face));
    }
}

/// The values of a scalar quantity: one value, or one for each element of `shape`.
inline std::vector<double> scalars(const char* name, const Doubles& array, const std::vector<py::ssize_t>& shape) {
    if (array.ndim() != 0) {
        require_shape(name, array, shape);
    }
    return to_vector(name, array);
}

/// Calls read(engine, data pointer) to fill a field array, without holding the GIL.
template <class Read>
void fill(Engine& e, py::array& out, int components, Read&& read) {
    require_shape("out", out, window_shape(e, components));
    with_floats("out", out, [&](auto* data) {
        const InUse use(e);
        read(e, data);
    });
}

}  // namespace lbm::bindings
