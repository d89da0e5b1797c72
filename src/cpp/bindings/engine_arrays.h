// Arrays that the engine's fields and values come in, and the use of an engine by one thread at a time.
#pragma once

#include <mutex>
#include <vector>

#include "../engine/engine.h"
#include "arrays.h"
#include "no_gil.h"

namespace lbm::bindings {

using engine::Engine;

/// While it lives no other thread uses the engine, and Python goes on elsewhere. Throws process::ForkError in a child
/// that cannot use it.
class InUse {
public:
    explicit InUse(const Engine& e) : lock_(e.mutex()) {}

private:
    NoGil release_;  // first, so that nobody waits for the engine while holding the GIL
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

/// Of a field of the whole domain.
inline std::vector<py::ssize_t> field_shape(const Engine& e, int components) {
    return array_shape(e.domain().size, e.domain().D, components);
}

/// Of a field of the process's own window.
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
        const InUse use(e);  // as another thread may add one
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

/// One value, or one for each of the places of a shape.
inline std::vector<double> scalars(const char* name, const Doubles& array, const std::vector<py::ssize_t>& shape) {
    if (array.ndim() != 0) {
        require_shape(name, array, shape);
    }
    return to_vector(name, array);
}

/// Fills a field array by a member of the engine without holding the GIL.
template <class Read>
void fill(Engine& e, py::array& out, int components, Read&& read) {
    require_shape("out", out, window_shape(e, components));
    with_floats("out", out, [&](auto* data) {
        const InUse use(e);
        read(e, data);
    });
}

}  // namespace lbm::bindings
