// The shapes of the arrays that hold an engine's fields and values, and the lock by which one thread at a time uses an
// engine.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
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

/// The place that a torque is about; throws std::invalid_argument unless it has D coordinates. In two dimensions it
/// lies in the plane of the cells' centres.
struct Center {
    Center(const Engine& e, const std::vector<double>& given) {
        if (given.size() != std::size_t(e.domain().D)) {
            throw std::invalid_argument("center: " + std::to_string(e.domain().D) + " components are needed");
        }
        std::copy(given.begin(), given.end(), at);
    }

    double at[3] = {0, 0, 0.5};
};

/// The same of a body; of one that moves without it, the point about which that turns.
inline backend::TorqueCenter torque_center(const Engine& e, int body, const std::optional<std::vector<double>>& given) {
    if (!given && !e.moves(body)) {
        throw std::invalid_argument("center: must be given of a body at rest");
    }
    backend::TorqueCenter center{{0, 0, 0}, !given.has_value()};
    if (given) {
        const Center about(e, *given);
        std::copy(about.at, about.at + 3, center.at);
    }
    return center;
}

/// The values of a scalar quantity: one value, or one for each element of `shape`.
inline std::vector<double> scalars(const char* name, const Doubles& array, const std::vector<py::ssize_t>& shape) {
    if (array.ndim() != 0) {
        require_shape(name, array, shape);
    }
    return to_vector(name, array);
}

/// The values of a vector quantity: uniform, of shape (D,), or of `shape`.
inline std::vector<double> vectors(const char* name, const Engine& e, const Doubles& array,
                                   const std::vector<py::ssize_t>& shape) {
    require_shape(name, array, array.ndim() == 1 ? std::vector<py::ssize_t>{e.domain().D} : shape);
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

/// The box of cells with an offset and a size in the order x, y[, z]; throws std::invalid_argument unless it lies in
/// the domain.
inline engine::Box box_in_domain(const Engine& e, const std::vector<int>& offset, const std::vector<int>& size) {
    const int D = e.domain().D;
    engine::Box box{{0, 0, 0}, {1, 1, 1}};
    bool right = offset.size() == std::size_t(D) && size.size() == std::size_t(D);
    for (int d = 0; right && d < D; ++d) {
        box.offset[d] = offset[std::size_t(d)];
        box.size[d] = size[std::size_t(d)];
        right = box.offset[d] >= 0 && box.size[d] > 0 && box.size[d] <= e.domain().size[d] - box.offset[d];
    }
    if (!right) {
        throw std::invalid_argument("offset and size: must be a box of the domain's cells");
    }
    return box;
}

/// Calls read(engine, data pointer, box) to fill an array of a box, without holding the GIL.
template <class Read>
void fill_box(Engine& e, py::array& out, int components, const std::vector<int>& offset, const std::vector<int>& size,
              Read&& read) {
    const engine::Box box = box_in_domain(e, offset, size);
    require_shape("out", out, array_shape(box.size, e.domain().D, components));
    with_floats("out", out, [&](auto* data) {
        const InUse use(e);
        read(e, data, box);
    });
}

}  // namespace lbm::bindings
