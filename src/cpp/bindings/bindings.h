// The functions that bind the parts of the extension module lbmgpu._core.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "../engine/engine.h"

namespace lbm::bindings {

namespace py = pybind11;

/// The deleter of an engine. A forked child does not destroy an engine of its parent: the engine's threads do not exist
/// there, and neither GPU nor MPI can be used.
struct DeleteInOwnProcess {
    void operator()(engine::Engine* e) const {
        if (e->is_of_this_process()) {
            delete e;
        }
    }
};
using OwnedEngine = std::unique_ptr<engine::Engine, DeleteInOwnProcess>;
using EngineClass = py::class_<engine::Engine, OwnedEngine>;

void bind_stencil(py::module_& module);
void bind_models(py::module_& module);
void bind_machine(py::module_& module);
void bind_communicator(py::module_& module);
void bind_engine(py::module_& module);
void bind_engine_group(py::module_& module);
void bind_bodies(EngineClass& engine);
void bind_heat(EngineClass& engine);
void bind_gpu_arrays(py::module_& module, EngineClass& engine);
void bind_samplers(py::module_& module, EngineClass& engine);
void bind_scaled_values(EngineClass& engine);
void bind_sums(EngineClass& engine);
void bind_turbulence(py::module_& module, EngineClass& engine);
engine::TurbulenceSetup turbulence_setup(const py::dict& given);
engine::ThermalSetup thermal_setup(const py::dict& given);
engine::Parameters to_parameters(const py::dict& given);
void set_custom(const py::dict& given, engine::Setup& setup);
void bind_custom(py::module_& module);
void bind_statistics(py::module_& module);
void bind_cuda(py::module_& module);
void bind_device_array(py::module_& module);
void bind_geometry(py::module_& module);

}  // namespace lbm::bindings
