// Binds queries about CUDA - driver, run-time compiler, GPUs, resource usage of kernels - and the tuning of kernels.
#include <pybind11/stl.h>

#include "../backend/cuda/cuda_block.h"
#include "../backend/cuda/driver.h"
#include "../backend/cuda/kernel_names.h"
#include "../backend/cuda/tuning.h"
#include "../engine/setup.h"
#include "bindings.h"
#include "no_gil.h"

namespace lbm::bindings {
namespace {

py::dict gpu(int ordinal) {
    const cuda::DeviceInfo info = cuda::device_info(ordinal);
    py::dict entry;
    entry["name"] = info.name;
    entry["architecture"] = info.architecture();
    entry["memory"] = info.memory;
    entry["free_memory"] = info.free_memory;
    entry["multiprocessors"] = info.multiprocessors;
    entry["l2_bytes"] = info.l2_bytes;
    return entry;
}

py::dict compiler() {
    const cuda::CompilerInfo info = cuda::compiler_info();
    py::dict entry;
    entry["version"] = std::to_string(info.major) + "." + std::to_string(info.minor);
    entry["library"] = info.library;
    return entry;
}

/// The turbulence model of velocity gradients of this name, with any constant; none for an empty one.
std::optional<engine::TurbulenceSetup> turbulence_of(const std::string& model, int every) {
    return model.empty() ? std::nullopt : std::optional(engine::TurbulenceSetup{model, 0.1, every});
}

/// The specification of a block for resource queries and tuning. Axis d is periodic if bit d of `periodic_axes` is set.
backend::BlockSpec spec_of(const std::string& stencil, const std::vector<int>& shape, const std::string& collision,
                           const std::string& precision, const std::string& storage, const std::string& streaming,
                           bool smagorinsky, int periodic_axes, bool thermal,
                           const std::optional<engine::TurbulenceSetup>& turbulence) {
    if (shape.size() != 2 && shape.size() != 3) {
        throw std::invalid_argument("shape: " + std::to_string(shape.size()) + " sizes given, must be 2 or 3");
    }
    engine::Setup setup;
    setup.stencil = stencil;
    setup.shape = shape;
    setup.collision = collision;
    setup.parameters = {{"viscosity", 0.1}};
    if (smagorinsky) {
        setup.parameters["smagorinsky"] = 0.1;
    }
    setup.precision = precision;
    setup.storage = storage;
    setup.streaming = streaming;
    setup.turbulence = turbulence;
    for (std::size_t face = 0; face < 2 * setup.shape.size(); ++face) {
        setup.faces.emplace_back((periodic_axes >> (face / 2)) % 2 == 1 ? "periodic" : "no-slip");
    }
    if (thermal) {
        setup.thermal.emplace();
        setup.thermal->diffusivity = 0.05;
    }
    return engine::block_spec(setup);
}

/// The assembler's report of registers and spills for every update kernel of a configuration: of each phase, and of
/// updates with what they take of velocity gradients computed before, or by them if `renews`.
std::vector<std::string> update_resources(const std::string& stencil, const std::string& collision,
                                          const std::string& precision, const std::string& storage,
                                          const std::string& streaming, bool smagorinsky, int forcing, bool end_sums,
                                          int periodic_axes, int size, const std::string& architecture, bool thermal,
                                          bool takes_strain, const std::string& turbulence, bool renews, int row_ends) {
    const std::vector<int> shape(stencil.substr(0, 2) == "D2" ? 2 : 3, size);
    backend::BlockSpec spec = spec_of(stencil, shape, collision, precision, storage, streaming, smagorinsky,
                                      periodic_axes, thermal, turbulence_of(turbulence, 1));
    spec.takes_strain = takes_strain;
    if (forcing < 0 || forcing > int(cuda::Forcing::ScaledField)) {
        throw std::invalid_argument("forcing: " + std::to_string(forcing) + " given, must be 0 to 4");
    }
    std::vector<std::string> logs;
    for (const Phase phase : backend::phases_of(spec)) {
        const cuda::UpdateKind kind{phase,   cuda::Forcing(forcing), end_sums, backend::keeps_velocity(spec), renews,
                                    row_ends};
        const cuda::KernelName name = cuda::update_kernel(spec, cuda::default_configuration(spec, kind), kind);
        const NoGil release;
        logs.push_back(cuda::resource_usage(name, architecture));
    }
    return logs;
}

py::list tune(const std::string& stencil, const std::vector<int>& shape, const std::string& collision,
              const std::string& precision, const std::string& storage, const std::string& streaming, bool forced,
              bool end_sums, bool periodic, int ordinal, double seconds, bool thermal, const std::string& turbulence,
              int every) {
    const backend::BlockSpec spec = spec_of(stencil, shape, collision, precision, storage, streaming, false,
                                            periodic ? 7 : 0, thermal, turbulence_of(turbulence, every));
    std::vector<cuda::ConfigurationTiming> timings;
    {
        const NoGil release;
        const auto forcing = forced ? cuda::Forcing::Uniform : cuda::Forcing::None;
        timings = cuda::tune(spec, {backend::phases_of(spec).front(), forcing, end_sums}, ordinal, seconds);
    }
    py::list all;
    for (const cuda::ConfigurationTiming& timing : timings) {
        py::dict entry;
        entry["phase"] = backend::name_of(timing.phase);
        entry["renews_terms"] = timing.renews_terms;
        entry["cells_per_thread"] = timing.configuration.cells_per_thread;
        entry["threads"] = timing.configuration.threads;
        entry["blocks"] = timing.configuration.blocks;
        entry["seconds"] = timing.seconds;
        entry["registers"] = timing.registers;
        entry["local_bytes"] = timing.local_bytes;
        entry["best"] = timing.best;
        all.append(entry);
    }
    return all;
}

}  // namespace

void bind_cuda(py::module_& module) {
    py::register_exception<cuda::CudaError>(module, "CudaError", PyExc_RuntimeError);
    module.def("set_compiler_folders", &cuda::set_compiler_folders, py::arg("folders"));
    module.def("cuda_device_count", &cuda::device_count);
    module.def("cuda_device", &gpu, py::arg("ordinal"));
    module.def("cuda_driver_version", &cuda::driver_version);
    module.def("cuda_compiler", &compiler);
    module.def("cuda_copy_bandwidth", &cuda::copy_bandwidth, py::arg("ordinal"), py::arg("bytes"), py::arg("seconds"),
               py::call_guard<NoGil>());
    module.def("cuda_update_resources", &update_resources, py::arg("stencil"), py::arg("collision"),
               py::arg("precision"), py::arg("storage"), py::arg("streaming"), py::arg("smagorinsky"),
               py::arg("forcing"), py::arg("end_sums"), py::arg("periodic_axes"), py::arg("size"),
               py::arg("architecture"), py::arg("thermal") = false, py::arg("takes_strain") = false,
               py::arg("turbulence") = "", py::arg("renews") = false, py::arg("row_ends") = 0);
    module.def(
        "cuda_kernel_resources",
        [](const std::string& header, const std::string& name, const std::string& architecture) {
            return cuda::resource_usage({header, name}, architecture);
        },
        py::arg("header"), py::arg("name"), py::arg("architecture"), py::call_guard<NoGil>());
    module.def("cuda_tune", &tune, py::arg("stencil"), py::arg("shape"), py::arg("collision"), py::arg("precision"),
               py::arg("storage"), py::arg("streaming"), py::arg("forced"), py::arg("end_sums"), py::arg("periodic"),
               py::arg("ordinal"), py::arg("seconds"), py::arg("thermal") = false, py::arg("turbulence") = "",
               py::arg("every") = 1);
}

}  // namespace lbm::bindings
