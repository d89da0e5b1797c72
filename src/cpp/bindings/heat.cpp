// Binds the engine's members for temperatures and heat.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "bindings.h"
#include "engine_arrays.h"
#include "gpu_array.h"

namespace lbm::bindings {
namespace {

/// An array of a face's numbers, which `read(engine)` gives.
template <class Read>
py::array_t<double> of_face(Engine& e, int face, Read&& read) {
    check_face(e, face);
    std::vector<double> flux;
    {
        const InUse use(e);
        flux = read(e);
    }
    py::array_t<double> out(face_shape(e, face, 0));
    std::copy(flux.begin(), flux.end(), out.mutable_data());
    return out;
}

py::tuple body_heat_flux(Engine& e, int body) {
    check_body(e, body);
    Engine::BodyHeat heat;
    {
        const InUse use(e);
        heat = e.body_heat_flux(body);
    }
    const auto count = py::ssize_t(heat.cells.size());
    const int D = e.domain().D;
    py::array_t<int> cells(std::vector<py::ssize_t>{count, D});
    for (py::ssize_t k = 0; k < count; ++k) {
        const backend::Cell& cell = heat.cells[std::size_t(k)];
        const int at[3] = {cell.x, cell.y, cell.z};
        std::copy(at, at + D, cells.mutable_data() + k * D);
    }
    return py::make_tuple(cells, py::array_t<double>(count, heat.flux.data()),
                          py::array_t<double>(count, heat.area.data()));
}

}  // namespace

/// Converts the dict of the hybrid thermal model; throws TypeError for a value of the wrong type.
engine::ThermalSetup thermal_setup(const py::dict& given) try {
    engine::ThermalSetup thermal;
    for (const auto& [key, value] : given) {
        const auto name = key.cast<std::string>();
        if (name == "diffusivity") {
            thermal.diffusivity = value.cast<double>();
        } else if (name == "operators") {
            thermal.operators = value.cast<std::string>();
        } else if (name == "energy_coupling") {
            thermal.energy_coupling = value.cast<double>();
        } else if (name == "buoyancy") {
            thermal.buoyancy = value.cast<std::vector<double>>();
        } else if (name == "faces") {
            thermal.faces = value.cast<std::vector<std::string>>();
        } else {
            throw std::invalid_argument("thermal: '" + name + "' is not known");
        }
    }
    return thermal;
} catch (const py::cast_error&) {
    throw py::type_error("thermal: a name or a value of the wrong type given");
}

void bind_heat(EngineClass& engine) {
    engine
        .def(
            "set_face_temperature",
            [](Engine& e, int face, const Doubles& temperature) {
                check_face(e, face);
                std::vector<double> values = scalars("temperature", temperature, face_shape(e, face, 0));
                const InUse use(e);
                e.set_face_temperature(face, std::move(values));
            },
            py::arg("face"), py::arg("temperature"))
        .def(
            "set_body_temperature",
            [](Engine& e, int body, const Doubles& temperature) {
                check_body(e, body);
                std::vector<double> values = scalars("temperature", temperature, known_shape(e, 0));
                const InUse use(e);
                e.set_body_temperature(body, std::move(values));
            },
            py::arg("body"), py::arg("temperature"))
        .def(
            "set_link_temperature",
            [](Engine& e, int body, const Doubles& temperature) {
                check_body(e, body);
                const Index links = e.domain().body_cuts[std::size_t(body)].count();
                require_shape("temperature of links", temperature, {links});
                std::vector<double> values = to_vector("temperature of links", temperature);
                const InUse use(e);
                e.set_link_temperature(body, std::move(values));
            },
            py::arg("body"), py::arg("temperature"))
        .def(
            "set_heat_source",
            [](Engine& e, const std::optional<Field>& given) {
                if (const backend::GpuArray* array = on_gpu(given)) {
                    const InUse use(e);
                    e.set_heat_source_array(*array);
                    return;
                }
                const std::optional<Doubles> source = of_host(given);
                if (source && source->ndim() > 0) {
                    require_shape("source", *source, window_shape(e, 0));
                    require_finite("source", *source);
                    const double* field = source->data();
                    const InUse use(e);
                    e.set_heat_source_field(field);
                    return;
                }
                const std::vector<double> values = source ? scalars("source", *source, {}) : std::vector<double>{};
                const InUse use(e);
                e.set_heat_source(values);
            },
            py::arg("source"))
        .def(
            "temperature",
            [](Engine& e, py::array out) { fill(e, out, 0, [](Engine& of, auto* data) { of.temperature(data); }); },
            py::arg("out"))
        .def(
            "set_temperature",
            [](Engine& e, const Doubles& values) {
                require_shape("values", values, window_shape(e, 0));
                const double* data = values.data();
                const InUse use(e);
                e.set_temperature(data);
            },
            py::arg("values"))
        .def(
            "heat_flux",
            [](Engine& e, int face) { return of_face(e, face, [face](Engine& of) { return of.heat_flux(face); }); },
            py::arg("face"))
        .def(
            "column_heat",
            [](Engine& e, int face, bool exchanged) {
                const auto kind = exchanged ? Engine::HeatOf::Exchange : Engine::HeatOf::Gradient;
                return of_face(e, face, [&](Engine& of) { return of.column_heat(face, kind); });
            },
            py::arg("face"), py::arg("exchanged"))
        .def(
            "mean_heat_flux",
            [](Engine& e, int face) {
                check_face(e, face);
                const InUse use(e);
                return e.mean_heat_flux(face);
            },
            py::arg("face"))
        .def("body_heat_flux", &body_heat_flux, py::arg("body"))
        .def(
            "body_heat_rate",
            [](Engine& e, int body) {
                check_body(e, body);
                Engine::BodyHeatRate heat{};
                {
                    const InUse use(e);
                    heat = e.body_heat_rate(body);
                }
                return py::make_tuple(heat.rate, heat.area);
            },
            py::arg("body"))
        .def("temperature_change", [](Engine& e) {
            const InUse use(e);
            return e.temperature_change();
        });
}

}  // namespace lbm::bindings
