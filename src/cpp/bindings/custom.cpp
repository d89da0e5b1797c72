// Binds custom collisions: their parameters, and the resources that their kernels for GPUs take.
#include <pybind11/stl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../backend/cpu/host_compiler.h"
#include "../backend/cuda/kernel_names.h"
#include "../backend/run_time_compilation/embedded_headers.h"
#include "../engine/custom_parameters.h"
#include "bindings.h"
#include "no_gil.h"

namespace lbm::bindings {

/// Converts the parameters of a collision, by name.
engine::Parameters to_parameters(const py::dict& given) {
    engine::Parameters parameters;
    for (const auto& [name, value] : given) {
        const auto text = name.cast<std::string>();
        try {
            parameters.emplace(text, value.cast<engine::Parameter>());
        } catch (const py::cast_error&) {
            throw py::type_error(text + ": must be a number, a sequence of numbers or a dict of names and numbers");
        }
    }
    return parameters;
}

/// A dict with name, file and text, the line that the struct begins in, and the numbers where they have been made.
void set_custom(const py::dict& given, engine::Setup& setup) try {
    const auto word = [&](const char* key) {
        if (!given.contains(key)) {
            throw std::invalid_argument(std::string("custom: no '") + key + "' given");
        }
        return given[key].cast<std::string>();
    };
    const int line = given.contains("line") ? given["line"].cast<int>() : 1;
    setup.custom = std::make_shared<const custom::CustomCollision>(
        custom::CustomCollision{word("name"), word("file"), word("text"), line});
    if (given.contains("numbers")) {
        setup.numbers = given["numbers"].cast<std::vector<double>>();
    }
} catch (const py::cast_error&) {
    throw py::type_error("custom: a value of the wrong type given");
}

namespace {

engine::Setup setup_of(const py::dict& custom, const std::string& stencil, const std::string& precision,
                       const std::string& storage, bool thermal) {
    engine::Setup setup;
    set_custom(custom, setup);
    setup.stencil = stencil;
    setup.precision = precision;
    setup.storage = storage;
    if (thermal) {
        setup.thermal.emplace();
        setup.thermal->diffusivity = 0.05;
    }
    return setup;
}

std::vector<double> numbers(const py::dict& custom, const py::dict& parameters, const std::string& stencil,
                            const std::string& precision, const std::string& storage, bool thermal,
                            const std::string& device, const std::string& isa) {
    engine::Setup setup = setup_of(custom, stencil, precision, storage, thermal);
    setup.parameters = to_parameters(parameters);
    setup.device = {device, 1, isa};
    const NoGil release;
    return engine::custom_numbers(setup);
}

/// The assembler's report on the kernels of a periodic box, that of the one that makes the parameters first.
std::vector<std::string> resources(const py::dict& custom, const std::string& stencil, const std::string& precision,
                                   const std::string& storage, const std::string& streaming, int size,
                                   const std::string& architecture, bool thermal) {
    engine::Setup setup = setup_of(custom, stencil, precision, storage, thermal);
    setup.shape = std::vector<int>(stencil.substr(0, 2) == "D2" ? 2 : 3, size);
    setup.streaming = streaming;
    const NoGil release;
    const backend::BlockSpec spec = engine::block_spec(setup);
    std::vector<std::string> logs = {cuda::resource_usage(cuda::custom_parameters_kernel(spec), architecture)};
    for (const Phase phase : backend::phases_of(spec)) {
        const cuda::UpdateKind kind{phase, cuda::Forcing::None, false};
        logs.push_back(cuda::resource_usage(cuda::update_kernel(spec, cuda::default_configuration(spec, kind), kind),
                                            architecture));
    }
    return logs;
}

/// The headers that texts may include.
std::vector<std::string> lattice_headers() {
    std::vector<std::string> names;
    for (const run_time::EmbeddedHeader& header : run_time::embedded_headers()) {
        const std::string path = header.path;
        if (path.rfind("lattice/", 0) == 0) {
            names.push_back(path);
        }
    }
    return names;
}

/// Raises what Python's handlers of signals do, which run on its first thread alone.
void check_signals() {
    if (syscall(SYS_gettid) == getpid()) {
        const py::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) {
            throw py::error_already_set();
        }
    }
}

}  // namespace

void bind_custom(py::module_& module) {
    cpu::set_interrupt_check(&check_signals);
    py::register_exception<custom::CompileError>(module, "CompileError", PyExc_RuntimeError);
    module.def("lattice_headers", &lattice_headers);
    module.def("custom_numbers", &numbers, py::arg("custom"), py::arg("parameters"), py::kw_only(), py::arg("stencil"),
               py::arg("precision"), py::arg("storage"), py::arg("thermal") = false, py::arg("device") = "cpu",
               py::arg("isa") = "");
    module.def("custom_resources", &resources, py::arg("custom"), py::kw_only(), py::arg("stencil"),
               py::arg("precision"), py::arg("storage"), py::arg("streaming"), py::arg("size"), py::arg("architecture"),
               py::arg("thermal") = false);
}

}  // namespace lbm::bindings
