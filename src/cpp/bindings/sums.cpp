// Binds the engine's members that reduce over its cells: forces on bodies and faces, totals, changes, extremes.
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <vector>

#include "bindings.h"
#include "engine_arrays.h"

namespace lbm::bindings {
namespace {

/// The components of a force and a torque that there are in D dimensions.
py::tuple as_tuple(const backend::ForceAndTorque& sum, int D) {
    return py::make_tuple(
        std::vector<double>(sum.force, sum.force + D),
        D == 2 ? std::vector<double>{sum.torque[2]} : std::vector<double>(sum.torque, sum.torque + 3));
}

py::tuple body_force(Engine& e, int body, const std::optional<std::vector<double>>& center) {
    check_body(e, body);
    const backend::TorqueCenter about = torque_center(e, body, center);
    backend::ForceAndTorque sum{};
    {
        const InUse use(e);
        sum = e.moves(body) ? e.moving_body_force(body, about) : e.body_force(body, about.at);
    }
    return as_tuple(sum, e.domain().D);
}

py::tuple face_force(Engine& e, int face, const std::vector<double>& center) {
    check_face(e, face);
    const Center about(e, center);
    backend::ForceAndTorque sum{};
    {
        const InUse use(e);
        sum = e.face_force(face, about.at);
    }
    return as_tuple(sum, e.domain().D);
}

/// The coordinates of the cell of an index of the domain; None for an infinite one.
py::object cell_of(const Engine& e, double at) {
    if (!std::isfinite(at)) {
        return py::none();
    }
    const Index row = Index(at) / e.domain().size[0];
    const int x = int(Index(at) % e.domain().size[0]), y = int(row % e.domain().size[1]);
    if (e.domain().D == 2) {
        return py::make_tuple(x, y);
    }
    return py::make_tuple(x, y, int(row / e.domain().size[1]));
}

py::tuple extremes(Engine& e) {
    backend::Extremes found{};
    {
        const InUse use(e);
        found = e.extremes();
    }
    return py::make_tuple(std::sqrt(found.speed2), cell_of(e, found.fastest), 1 + found.lowest, 1 + found.highest,
                          cell_of(e, found.invalid), found.coldest, found.hottest);
}

}  // namespace

void bind_sums(EngineClass& engine) {
    engine.def("body_force", &body_force, py::arg("body"), py::arg("center"))
        .def("face_force", &face_force, py::arg("face"), py::arg("center"))
        .def("totals",
             [](Engine& e) {
                 backend::Totals t{};
                 {
                     const InUse use(e);
                     t = e.totals();
                 }
                 return py::make_tuple(t.mass, std::vector<double>(t.momentum, t.momentum + e.domain().D), t.energy,
                                       t.heat);
             })
        .def("velocity_change",
             [](Engine& e) {
                 const InUse use(e);
                 return e.velocity_change();
             })
        .def("extremes", &extremes);
}

}  // namespace lbm::bindings
