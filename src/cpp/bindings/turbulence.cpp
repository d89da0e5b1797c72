// Binds the turbulence models and the engine's members for the eddy viscosity.
#include <pybind11/stl.h>

#include "../backend/block_layout.h"
#include "bindings.h"
#include "engine_arrays.h"

namespace lbm::bindings {

/// Converts the dict of an eddy viscosity of velocity gradients; throws TypeError for a value of the wrong type.
engine::TurbulenceSetup turbulence_setup(const py::dict& given) try {
    engine::TurbulenceSetup turbulence;
    for (const auto& [key, value] : given) {
        const auto name = key.cast<std::string>();
        if (name == "model") {
            turbulence.model = value.cast<std::string>();
        } else if (name == "constant") {
            turbulence.constant = value.cast<double>();
        } else if (name == "every") {
            turbulence.every = value.cast<int>();
        } else {
            throw std::invalid_argument("turbulence: '" + name + "' is not known");
        }
    }
    return turbulence;
} catch (const py::cast_error&) {
    throw py::type_error("turbulence: a name or a value of the wrong type given");
}

void bind_turbulence(py::module_& module, EngineClass& engine) {
    module.def("most_steps_between", [] { return engine::most_steps_between; });
    module.def("turbulence_models", [] {
        py::dict models;
        for_types(TurbulenceModels{}, [&](auto member) {
            using Model = typename decltype(member)::type;
            models[Model::name] = Model::takes_gradients;
        });
        return models;
    });
    module.def(
        "gradient_bytes",
        [](int dimensions, bool viscosity, bool strain, const std::string& precision, const std::string& storage,
           int every, bool on_gpu) {
            return backend::gradient_bytes(on_gpu ? backend::Device::Gpu : backend::Device::Cpu, dimensions,
                                           gradient_term_count(dimensions, viscosity, strain),
                                           engine::number_kind("precision", precision),
                                           engine::number_kind("storage", storage), every);
        },
        py::arg("dimensions"), py::arg("viscosity"), py::arg("strain"), py::arg("precision"), py::arg("storage"),
        py::arg("every"), py::arg("on_gpu") = false);
    engine
        .def(
            "eddy_viscosity",
            [](Engine& e, py::array out) { fill(e, out, 0, [](Engine& of, auto* data) { of.eddy_viscosity(data); }); },
            py::arg("out"))
        .def("kept_turbulence_count",
             [](const Engine& e) {
                 const InUse use(e);
                 return e.kept_turbulence_count();
             })
        .def("kept_turbulence",
             [](Engine& e) -> py::object {
                 const int count = [&] {
                     const InUse use(e);
                     return e.kept_turbulence_count();
                 }();
                 if (count == 0) {
                     return py::none();
                 }
                 py::array_t<double> out(window_shape(e, count));
                 double* data = out.mutable_data();
                 std::fill(data, data + out.size(), 0.0);
                 const InUse use(e);
                 e.kept_turbulence(data);
                 return out;
             })
        .def(
            "set_kept_turbulence",
            [](Engine& e, const Doubles& values) {
                const int count = [&] {
                    const InUse use(e);
                    return e.kept_turbulence_count();
                }();
                require_shape("values", values, window_shape(e, count));
                const double* data = values.data();
                const InUse use(e);
                e.set_kept_turbulence(data);
            },
            py::arg("values"));
}

}  // namespace lbm::bindings
