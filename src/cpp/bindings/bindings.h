// The parts of the extension module.
#pragma once

#include <pybind11/pybind11.h>

#include "../engine/engine.h"

namespace lbm::bindings {

namespace py = pybind11;

void bind_stencil(py::module_& module);
void bind_machine(py::module_& module);
void bind_communicator(py::module_& module);
void bind_engine(py::module_& module);
void bind_heat(py::class_<engine::Engine>& engine);
engine::ThermalSetup thermal_setup(const py::dict& given);
void bind_cuda(py::module_& module);
void bind_device_array(py::module_& module);

}  // namespace lbm::bindings
