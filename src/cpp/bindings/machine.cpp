// Binds queries about this machine: instruction sets, threads, memory bandwidth, links between devices, and the folder
// of compiled kernels.
#include <pybind11/stl.h>

#include "../backend/cpu/cpu_block.h"
#include "../backend/cpu/kernels.h"
#include "../backend/devices.h"
#include "../backend/link_bandwidth.h"
#include "../backend/run_time_compilation/kernel_cache.h"
#include "bindings.h"
#include "no_gil.h"

namespace lbm::bindings {

void bind_machine(py::module_& module) {
    module.def("cpu_isas", &cpu::usable_isas);
    module.def("default_threads", &cpu::default_threads);
    module.def("inplace_stream_scale", &cpu::inplace_stream_scale, py::arg("bytes"), py::arg("threads"),
               py::arg("repeats"), py::call_guard<NoGil>());
    module.def("kernel_cache_folder", &run_time::cache_folder);
    module.def("kernel_cache_refusal", [] { return run_time::KernelCache(run_time::cache_folder()).refusal(); });
    module.def("device_can_access", &backend::can_access, py::arg("device"), py::arg("other"));
    module.def(
        "link_bandwidth",
        [](const std::string& from, const std::string& to, std::size_t bytes, int repeats) {
            const backend::LinkBandwidth found = backend::link_bandwidth(from, to, bytes, repeats);
            return std::pair(found.seconds_of_little, found.bytes_per_second);
        },
        py::arg("source"), py::arg("target"), py::arg("bytes"), py::arg("repeats"), py::call_guard<NoGil>());
}

}  // namespace lbm::bindings
