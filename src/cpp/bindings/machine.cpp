// Binds queries about this machine: instruction sets, threads, memory bandwidth, links between devices, propagation in
// layouts of memory, and the folder of compiled kernels.
#include <pybind11/stl.h>

#include <algorithm>

#include "../backend/cpu/cpu_block.h"
#include "../backend/cpu/kernels.h"
#include "../backend/devices.h"
#include "../backend/link_bandwidth.h"
#include "../backend/propagation_time.h"
#include "../backend/run_time_compilation/kernel_cache.h"
#include "../engine/setup.h"
#include "bindings.h"
#include "no_gil.h"

namespace lbm::bindings {
namespace {

double propagation_seconds(const std::string& device, const std::string& stencil, const std::string& layout,
                           const std::string& storage, const std::vector<int>& shape, int threads, double seconds) {
    const std::vector<std::string>& layouts = backend::names_of<backend::MemoryLayouts>();
    const auto found = std::find(layouts.begin(), layouts.end(), layout);
    if (found == layouts.end()) {
        throw std::invalid_argument("layout: '" + layout + "' given, must be one of memory_layouts()");
    }
    if (shape.size() != 2 && shape.size() != 3) {
        throw std::invalid_argument("shape: " + std::to_string(shape.size()) + " sizes given, must be 2 or 3");
    }
    if (!(seconds >= 0 && seconds < 3600)) {
        throw std::invalid_argument("seconds: " + std::to_string(seconds) + " given, must be 0 to 3600");
    }
    return backend::propagation_seconds(
        {engine::stencil_kind(stencil), int(found - layouts.begin()), engine::number_kind("storage", storage)},
        {shape[0], shape[1], shape.size() == 3 ? shape[2] : 1}, backend::checked({device, threads, ""}), seconds);
}

}  // namespace

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
    module.def("memory_layouts", &backend::names_of<backend::MemoryLayouts>);
    module.def("propagation_seconds", &propagation_seconds, py::arg("device"), py::arg("stencil"), py::arg("layout"),
               py::arg("storage"), py::arg("shape"), py::arg("threads"), py::arg("seconds"), py::call_guard<NoGil>());
}

}  // namespace lbm::bindings
