// Binds what an engine records after some of its steps: fields at points, forces on bodies and faces.
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings.h"
#include "construction.h"
#include "engine_arrays.h"

namespace lbm::bindings {
namespace {

/// A sampler of an engine, which it keeps alive: `py::keep_alive` of a result crashes pybind11 3.1 where arguments do
/// not convert.
struct Sampled {
    py::object owner;
    Engine* engine;
    std::shared_ptr<engine::SeriesSampler> sampler;
};

using Indices = py::array_t<Index, int(py::array::c_style) | int(py::array::forcecast)>;

template <class T>
py::array_t<T> as_array(const std::vector<T>& values) {
    return py::array_t<T>(py::ssize_t(values.size()), values.data());
}

Sampled add_point_sampler(const py::object& self, const Indices& cells, const Indices& first, const Indices& number,
                          const Doubles& weights, bool density, bool velocity, bool temperature, double reference,
                          Index every, Index start) {
    auto& e = self.cast<Engine&>();
    const int D = e.domain().D;
    if (cells.ndim() != 2 || cells.shape(1) != D || first.ndim() != 1 || number.ndim() != 1 || weights.ndim() != 1) {
        throw std::invalid_argument("cells: must be an array (n, " + std::to_string(D) + "), the others of one axis");
    }
    engine::PointSetup setup;
    const auto at = cells.unchecked<2>();
    for (py::ssize_t k = 0; k < cells.shape(0); ++k) {
        for (int d = 0; d < D; ++d) {
            if (at(k, d) < 0 || at(k, d) >= e.domain().size[d]) {
                throw std::invalid_argument("cells: one lies outside the domain");
            }
        }
        setup.cells.push_back({int(at(k, 0)), int(at(k, 1)), D == 3 ? int(at(k, 2)) : 0});
    }
    setup.fields = {density, velocity, temperature, reference};
    setup.first.assign(first.data(), first.data() + first.size());
    setup.number.assign(number.data(), number.data() + number.size());
    setup.weights = to_vector("weights", weights);
    Sampled made{self, &e, nullptr};
    const InUse use(e);
    made.sampler = e.add_point_sampler(std::move(setup), every, start);
    return made;
}

Sampled add_force_sampler(const py::object& self, int body, const std::optional<std::vector<double>>& center,
                          Index every, Index start) {
    auto& e = self.cast<Engine&>();
    check_body(e, body);
    const backend::TorqueCenter about = torque_center(e, body, center);
    Sampled made{self, &e, nullptr};
    const InUse use(e);
    made.sampler = e.moves(body) ? e.add_moving_force_sampler(body, about, every, start)
                                 : e.add_force_sampler(body, about.at, every, start);
    return made;
}

Sampled add_face_force_sampler(const py::object& self, int face, const std::vector<double>& center, Index every,
                               Index start) {
    auto& e = self.cast<Engine&>();
    check_face(e, face);
    const Center about(e, center);
    Sampled made{self, &e, nullptr};
    const InUse use(e);
    made.sampler = e.add_face_force_sampler(face, about.at, every, start);
    return made;
}

}  // namespace

void bind_samplers(py::module_& module, EngineClass& engine) {
    py::class_<Sampled> sampler(module, "SeriesSampler", "What an engine records after some of its steps.");
    forbid_new(sampler);
    sampler
        .def_property_readonly("pending",
                               [](const Sampled& s) {
                                   const InUse use(*s.engine);
                                   return s.sampler->pending();
                               })
        .def(
            "sample",
            [](const Sampled& s, Index step) {
                const InUse use(*s.engine);
                s.engine->take_sample(*s.sampler, step);
            },
            py::arg("step"))
        .def("take",
             [](const Sampled& s) {
                 engine::Series series;
                 {
                     const InUse use(*s.engine);
                     series = s.sampler->take();
                 }
                 return py::make_tuple(as_array(series.steps), as_array(series.values));
             })
        .def("remove", [](const Sampled& s) {
            const InUse use(*s.engine);
            s.engine->remove_sampler(s.sampler);
        });
    engine
        .def("add_point_sampler", &add_point_sampler, py::arg("cells"), py::arg("first"), py::arg("number"),
             py::arg("weights"), py::arg("density"), py::arg("velocity"), py::arg("temperature"), py::arg("reference"),
             py::arg("every"), py::arg("start"))
        .def("add_force_sampler", &add_force_sampler, py::arg("body"), py::arg("center"), py::arg("every"),
             py::arg("start"))
        .def("add_face_force_sampler", &add_face_force_sampler, py::arg("face"), py::arg("center"), py::arg("every"),
             py::arg("start"));
}

}  // namespace lbm::bindings
