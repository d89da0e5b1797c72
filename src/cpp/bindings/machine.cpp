// Binds what this machine offers.
#include <pybind11/stl.h>

#include "../backend/cpu/cpu_block.h"
#include "../backend/cpu/kernels.h"
#include "bindings.h"

namespace lbm::bindings {

void bind_machine(py::module_& module) {
    module.def("cpu_isas", &cpu::usable_isas);
    module.def("default_threads", &cpu::default_threads);
    module.def("update_bandwidth", &cpu::update_bandwidth, py::arg("bytes"), py::arg("threads"), py::arg("repeats"),
               py::call_guard<py::gil_scoped_release>());
}

}  // namespace lbm::bindings
