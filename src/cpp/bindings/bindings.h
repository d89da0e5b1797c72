// The parts of the extension module.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "../engine/engine.h"

namespace lbm::bindings {

namespace py = pybind11;

/// Of owners of an engine. A forked child leaves its parent's as it is: threads that it waits for are gone, and neither
/// GPU nor MPI are the child's.
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
void bind_heat(EngineClass& engine);
engine::ThermalSetup thermal_setup(const py::dict& given);
engine::Parameters to_parameters(const py::dict& given);
void set_custom(const py::dict& given, engine::Setup& setup);
void bind_custom(py::module_& module);
void bind_cuda(py::module_& module);
void bind_device_array(py::module_& module);

}  // namespace lbm::bindings
