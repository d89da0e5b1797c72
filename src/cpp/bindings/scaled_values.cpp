// Binds what changes in time as a fixed part times a factor of the step.
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bindings.h"
#include "engine_arrays.h"

namespace lbm::bindings {
namespace {

/// A vector or number of a face or body, uniform or given for each of its cells.
std::vector<double> part_of(const char* name, const Doubles& part, int components,
                            const std::vector<py::ssize_t>& shape) {
    const bool uniform = part.ndim() == (components > 0 ? 1 : 0);
    const std::vector<py::ssize_t> one =
        components > 0 ? std::vector<py::ssize_t>{components} : std::vector<py::ssize_t>{};
    require_shape(name, part, uniform ? one : shape);
    return to_vector(name, part);
}

void require_series(int series) {
    if (series < 0) {
        throw std::invalid_argument("series: " + std::to_string(series) + " given, must be 0 or more");
    }
}

void require_finite_factor(double factor) {
    if (!std::isfinite(factor)) {
        throw std::invalid_argument("factor: " + std::to_string(factor) + " given, must be finite");
    }
}

/// A value whose fixed part is given, or without one as many numbers as the places have; places are those of a body.
engine::ScaledValue value_of(int series, const std::optional<Doubles>& part, int components,
                             const std::vector<py::ssize_t>& shape, const std::vector<Index>& places) {
    if (part) {
        return {part_of("part", *part, components, shape), series};
    }
    const Index all = std::accumulate(shape.begin(), shape.end(), Index(1), std::multiplies<>());
    return {{}, series, places.empty() ? all : std::max(components, 1) * Index(places.size()), places};
}

void scale_face(Engine& e, const std::string& value, int face, int series, const std::optional<Doubles>& part,
                double offset) {
    check_face(e, face);
    require_series(series);
    const bool is_velocity = value == "velocity";
    if (!is_velocity && value != "number" && value != "temperature") {
        throw std::invalid_argument("value: '" + value + "' given, must be 'velocity', 'number' or 'temperature'");
    }
    const int components = is_velocity ? e.domain().D : 0;
    engine::ScaledValue values = value_of(series, part, components, face_shape(e, face, components), {});
    const InUse use(e);
    if (value == "temperature") {
        e.scale_face_temperature(face, std::move(values), offset);
    } else {
        const auto kind = is_velocity ? boundary::Value::Velocity : boundary::Value::Number;
        e.scale_face_value(face, kind, std::move(values));
    }
}

void scale_body(Engine& e, const std::string& value, int body, int series, const std::optional<Doubles>& part,
                double offset, const std::vector<Index>& places) {
    check_body(e, body);
    require_series(series);
    if (value == "link velocity") {
        const int D = e.domain().D;
        const Index links = e.domain().body_cuts[std::size_t(body)].count();
        engine::ScaledValue values = value_of(series, part, D, {D, links}, {});
        const InUse use(e);
        e.scale_link_velocity(body, std::move(values));
        return;
    }
    if (value == "link temperature") {
        const Index links = e.domain().body_cuts[std::size_t(body)].count();
        if (part) {
            require_shape("part", *part, {links});
        }
        engine::ScaledValue values = value_of(series, part, 0, {links}, {});
        const InUse use(e);
        e.scale_link_temperature(body, std::move(values), offset);
        return;
    }
    const bool is_velocity = value == "velocity";
    if (!is_velocity && value != "temperature") {
        throw std::invalid_argument(
            "value: '" + value + "' given, must be 'velocity', 'link velocity', 'temperature' or 'link temperature'");
    }
    const int components = is_velocity ? e.domain().D : 0;
    engine::ScaledValue values = value_of(series, part, components, known_shape(e, components), places);
    const InUse use(e);
    if (is_velocity) {
        e.scale_body_velocity(body, std::move(values));
    } else {
        e.scale_body_temperature(body, std::move(values), offset);
    }
}

}  // namespace

void bind_scaled_values(EngineClass& engine) {
    engine
        .def("scale_face", &scale_face, py::arg("value"), py::arg("face"), py::arg("series"),
             py::arg("part") = py::none(), py::arg("offset") = 0.0)
        .def("scale_body", &scale_body, py::arg("value"), py::arg("body"), py::arg("series"),
             py::arg("part") = py::none(), py::arg("offset") = 0.0, py::arg("places") = std::vector<Index>{})
        .def(
            "scale_force",
            [](Engine& e, int series, const Doubles& part, double factor, std::optional<double> before) {
                const int D = e.domain().D;
                const bool is_uniform = part.ndim() == 1;
                require_series(series);
                require_shape("part", part,
                              is_uniform ? std::vector<py::ssize_t>{D} : array_shape(e.force_box().size, D, D));
                require_finite("part", part);
                require_finite_factor(factor);
                require_finite_factor(before.value_or(factor));
                const double* values = part.data();
                const InUse use(e);
                e.scale_force(series, is_uniform ? values : nullptr, is_uniform ? nullptr : values, factor,
                              before.value_or(factor));
            },
            py::arg("series"), py::arg("part"), py::arg("factor"), py::arg("before") = py::none())
        .def(
            "set_force_factor",
            [](Engine& e, double factor, std::optional<double> before) {
                require_finite_factor(factor);
                require_finite_factor(before.value_or(factor));
                const InUse use(e);
                e.set_force_factor(factor, before.value_or(factor));
            },
            py::arg("factor"), py::arg("before") = py::none())
        .def(
            "set_factors",
            [](Engine& e, Index first, const Doubles& table) {
                if (table.ndim() != 2) {
                    throw std::invalid_argument("table: must have two axes, of steps and of series");
                }
                std::vector<double> factors = to_vector("table", table);
                const int series = int(table.shape(1));
                const InUse use(e);
                e.set_factors(first, series, std::move(factors));
            },
            py::arg("first"), py::arg("table"))
        .def("bring_values_to_now", [](Engine& e) {
            const InUse use(e);
            e.bring_values_to_now();
        });
}

}  // namespace lbm::bindings
