// Binds the engine: checks the shapes of arrays, releases the GIL, and translates arguments and results.
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <tuple>
#include <variant>

#include "../backend/block_layout.h"
#include "../engine/processes.h"
#include "bindings.h"
#include "construction.h"
#include "engine_arrays.h"
#include "gpu_array.h"

namespace lbm::bindings {
namespace {

using engine::Setup;

/// The blocks of a layout: offset, size, rank and device of each.
using BlockTuples = std::vector<std::tuple<std::vector<int>, std::vector<int>, int, std::string>>;

/// Converts the blocks of a domain with `axes` axes.
std::vector<engine::Block> to_blocks(const BlockTuples& tuples, std::size_t axes) {
    if (axes != 2 && axes != 3) {
        throw std::invalid_argument("shape: " + std::to_string(axes) + " sizes given, must be 2 or 3");
    }
    std::vector<engine::Block> blocks;
    for (const auto& [offset, size, rank, device] : tuples) {
        if (offset.size() != axes || size.size() != axes) {
            throw std::invalid_argument("layout: the offset and size of a block take " + std::to_string(axes) +
                                        " numbers each");
        }
        engine::Block block{{0, 0, 0}, {1, 1, 1}, rank, device};
        std::copy(offset.begin(), offset.end(), block.offset);
        std::copy(size.begin(), size.end(), block.size);
        blocks.push_back(block);
    }
    return blocks;
}

OwnedEngine make_engine(const std::string& stencil, const std::vector<int>& shape, const std::string& collision,
                        const std::string& precision, const std::string& storage, const std::string& streaming,
                        const std::vector<std::string>& faces, const std::string& device, int threads,
                        const std::string& isa, const BlockTuples& blocks, const std::string& channel,
                        const std::string& schedule, std::shared_ptr<engine::Communicator> comm,
                        const std::optional<py::dict>& thermal, const std::vector<std::string>& thermal_faces,
                        const std::optional<py::dict>& custom, const std::optional<py::dict>& turbulence,
                        const std::string& state, const py::kwargs& parameters) {
    Setup setup{stencil,
                shape,
                collision,
                to_parameters(parameters),
                nullptr,
                {},
                precision,
                storage,
                streaming,
                faces,
                {device, threads, isa},
                to_blocks(blocks, shape.size()),
                channel,
                schedule,
                std::move(comm),
                thermal ? std::optional(thermal_setup(*thermal)) : std::nullopt,
                thermal_faces,
                turbulence ? std::optional(turbulence_setup(*turbulence)) : std::nullopt,
                engine::state_named(state, streaming, stencil)};
    if (custom) {
        set_custom(*custom, setup);
    }
    return OwnedEngine(new Engine(setup));
}

void add_sponge(Engine& e, int face, int thickness, double strength, double pull, double density,
                const std::vector<double>& velocity) {
    if (velocity.size() != std::size_t(e.domain().D)) {
        throw std::invalid_argument("velocity of a sponge: must have " + std::to_string(e.domain().D) + " components");
    }
    engine::Sponge sponge{face, thickness, strength, pull, density, {}};
    std::copy(velocity.begin(), velocity.end(), sponge.velocity);
    const InUse use(e);
    e.add_sponge(sponge);
}

void set_force(Engine& e, const std::optional<Field>& given) {
    if (const backend::GpuArray* array = on_gpu(given)) {
        const InUse use(e);
        e.set_force_array(*array);
        return;
    }
    const std::optional<Doubles> force = of_host(given);
    if (force && force->ndim() != 1) {
        require_shape("force", *force, array_shape(e.force_box().size, e.domain().D, e.domain().D));
        require_finite("force", *force);
        const double* field = force->data();
        const InUse use(e);
        e.set_force_field(field);
        return;
    }
    const std::vector<double> values = force ? vectors("force", e, *force, {}) : std::vector<double>{};
    const InUse use(e);
    e.set_force(values);
}

void set_face_number(Engine& e, int face, const Doubles& number, const std::string& name) {
    check_face(e, face);
    std::vector<double> values = scalars(name.c_str(), number, face_shape(e, face, 0));
    const InUse use(e);
    e.set_face_number(face, std::move(values), name);
}

/// The field of a quantity of `components`, 0 for one number a cell; null where it is uniform, with its values in
/// `uniform`, and where it is in a GPU's memory, as `array`.
const double* initial_field(const char* name, const std::optional<Field>& field, int components,
                            const std::vector<py::ssize_t>& shape, double* uniform, const backend::GpuArray*& array) {
    array = on_gpu(field);
    if (!field || array != nullptr) {
        return nullptr;
    }
    const auto& given = std::get<Doubles>(*field);
    require_finite(name, given);
    if (given.ndim() == (components > 0 ? 1 : 0)) {
        require_shape(name, given, std::vector<py::ssize_t>(components > 0 ? 1 : 0, components));
        std::copy(given.data(), given.data() + given.size(), uniform);
        return nullptr;
    }
    require_shape(name, given, shape);
    return given.data();
}

void initialize(Engine& e, const std::optional<Field>& density, const std::optional<Field>& velocity,
                bool nonequilibrium, const std::optional<Field>& temperature) {
    const int D = e.domain().D;
    const engine::Box& box = e.initial_box(nonequilibrium);
    engine::InitialValues values;
    const std::vector<py::ssize_t> scalar = array_shape(box.size, D, 0), vector = array_shape(box.size, D, D);
    values.density = initial_field("density", density, 0, scalar, &values.uniform_density, values.arrays.density);
    values.velocity = initial_field("velocity", velocity, D, vector, values.uniform_velocity, values.arrays.velocity);
    double uniform = 0;
    values.temperature = initial_field("temperature", temperature, 0, scalar, &uniform, values.arrays.temperature);
    if (temperature && values.temperature == nullptr && values.arrays.temperature == nullptr) {
        values.uniform_temperature = uniform;
    }
    const InUse use(e);
    e.initialize(values, nonequilibrium);
}

/// The bytes that an update of a cell reads and writes, on average; those of a CPU if there are blocks on both.
int bytes_per_update(const Engine& e) {
    const backend::BlockSpec& spec = e.spec();
    const auto& blocks = e.layout().blocks();
    const bool on_cpu = std::any_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.device == "cpu"; });
    const int numbers = e.state_count() + (backend::is_hybrid(spec) ? 1 : 0);
    return 2 * numbers * int(backend::size_of(spec.storage)) / spec.state->steps_per_launch +
           backend::gradient_bytes(on_cpu ? backend::Device::Cpu : backend::Device::Gpu, e.domain().D,
                                   backend::gradient_terms(spec), spec.precision, spec.storage, spec.refresh_every);
}

const char* storage_dtype(const Engine& e) {
    const std::size_t size = backend::size_of(e.spec().storage);
    return size == 2 ? "uint16" : size == 4 ? "float32" : "float64";
}

void require_state(const char* name, const Engine& e, const py::array& array) {
    require_shape(name, array, window_shape(e, e.state_count()));
    if (!array.dtype().is(py::dtype(storage_dtype(e)))) {
        throw std::invalid_argument(std::string(name) + ": dtype " + storage_dtype(e) + " is needed");
    }
}

py::array_t<bool> solid(const Engine& e) {
    py::array_t<bool> mask(known_shape(e, 0));
    bool* out = mask.mutable_data();
    const InUse use(e);
    const std::vector<std::uint16_t>& owner = e.domain().owner;
    for (Index at = 0; at < e.domain().known.cells(); ++at) {
        out[at] = !owner.empty() && owner[std::size_t(at)] != engine::no_body;
    }
    return mask;
}

/// The times of the steps so far; the engine is in use only while they are read.
engine::PhaseTimes phase_times(const Engine& e) {
    const InUse use(e);
    return e.phase_times();
}

py::tuple as_pair(const engine::Box& box, int D) {
    return py::make_tuple(std::vector<int>(box.offset, box.offset + D), std::vector<int>(box.size, box.size + D));
}

py::list layout(const Engine& e) {
    py::list blocks;
    for (const engine::Block& block : e.layout().blocks()) {
        py::dict entry;
        const int D = e.domain().D;
        entry["offset"] = std::vector<int>(block.offset, block.offset + D);
        entry["size"] = std::vector<int>(block.size, block.size + D);
        entry["rank"] = block.rank;
        entry["device"] = block.device;
        blocks.append(entry);
    }
    return blocks;
}

py::list links(Engine& e) {
    std::vector<engine::HaloExchange::Link> all;
    {
        const InUse use(e);
        all = e.links();
    }
    py::list list;
    for (const engine::HaloExchange::Link& link : all) {
        py::dict entry;
        entry["from"] = link.from;
        entry["to"] = link.to;
        entry["channel"] = engine::name_of(link.channel);
        entry["bytes"] = link.bytes;
        list.append(entry);
    }
    return list;
}

py::list update_kernels(const Engine& engine) {
    std::vector<backend::KernelFigures> kernels;
    {
        const InUse use(engine);
        kernels = engine.update_kernels();
    }
    py::list all;
    for (const backend::KernelFigures& kernel : kernels) {
        py::dict entry;
        entry["phase"] = backend::name_of(kernel.phase);
        entry["cells_per_thread"] = kernel.cells_per_thread;
        entry["threads"] = kernel.threads;
        entry["registers"] = kernel.registers;
        entry["local_bytes"] = kernel.local_bytes;
        entry["occupancy"] = kernel.occupancy;
        entry["part"] = kernel.part;
        all.append(entry);
    }
    return all;
}

}  // namespace

void bind_engine(py::module_& module) {
    module.def(
        "check_layout",
        [](const std::vector<int>& shape, const BlockTuples& blocks) {
            std::vector<engine::Block> checked = to_blocks(blocks, shape.size());
            int size[3] = {1, 1, 1};
            std::copy(shape.begin(), shape.end(), size);
            const engine::Layout layout(size, std::move(checked));
        },
        py::arg("shape"), py::arg("blocks"));
    EngineClass engine(module, "Engine");
    forbid_bare_new(engine);
    engine
        .def(py::init(&make_engine), py::kw_only(), py::arg("stencil"), py::arg("shape"), py::arg("collision"),
             py::arg("precision") = "float32", py::arg("storage") = "float32", py::arg("streaming") = "in-place",
             py::arg("faces") = std::vector<std::string>(), py::arg("device") = "cpu", py::arg("threads") = 0,
             py::arg("isa") = "", py::arg("blocks") = BlockTuples(), py::arg("channel") = "", py::arg("schedule") = "",
             py::arg("comm") = py::none(), py::arg("thermal") = py::none(),
             py::arg("thermal_faces") = std::vector<std::string>(), py::arg("custom") = py::none(),
             py::arg("turbulence") = py::none(), py::arg("state") = "populations")
        .def("add_sponge", &add_sponge, py::arg("face"), py::arg("thickness"), py::arg("strength"), py::arg("pull"),
             py::arg("density"), py::arg("velocity"))
        .def(
            "set_face_velocity",
            [](Engine& e, int face, const Doubles& velocity) {
                check_face(e, face);
                std::vector<double> values = vectors("velocity", e, velocity, face_shape(e, face, e.domain().D));
                const InUse use(e);
                e.set_face_velocity(face, std::move(values));
            },
            py::arg("face"), py::arg("velocity"))
        .def("set_face_number", &set_face_number, py::arg("face"), py::arg("number"), py::arg("name") = "number")
        .def("set_force", &set_force, py::arg("force"))
        .def("initialize", &initialize, py::arg("density"), py::arg("velocity"), py::arg("nonequilibrium"),
             py::arg("temperature") = py::none())
        .def(
            "step",
            [](Engine& e, Index steps) {
                const InUse use(e);
                e.step(steps);
            },
            py::arg("steps"))
        .def_property(
            "steps",
            [](const Engine& e) {
                const InUse use(e);
                return e.steps();
            },
            [](Engine& e, Index steps) {
                const InUse use(e);
                e.set_steps(steps);
            })
        .def_property(
            "reference_density",
            [](const Engine& e) {
                const InUse use(e);
                return e.reference_density();
            },
            [](Engine& e, double density) {
                const InUse use(e);
                e.set_reference_density(density);
            })
        .def(
            "density",
            [](Engine& e, py::array out) { fill(e, out, 0, [](Engine& engine, auto* data) { engine.density(data); }); },
            py::arg("out"))
        .def(
            "velocity",
            [](Engine& e, py::array out) {
                fill(e, out, e.domain().D, [](Engine& engine, auto* data) { engine.velocity(data); });
            },
            py::arg("out"))
        .def(
            "density_in",
            [](Engine& e, py::array out, const std::vector<int>& offset, const std::vector<int>& size) {
                fill_box(e, out, 0, offset, size,
                         [](Engine& of, auto* data, const engine::Box& box) { of.density(data, box); });
            },
            py::arg("out"), py::arg("offset"), py::arg("size"))
        .def(
            "velocity_in",
            [](Engine& e, py::array out, const std::vector<int>& offset, const std::vector<int>& size) {
                fill_box(e, out, e.domain().D, offset, size,
                         [](Engine& of, auto* data, const engine::Box& box) { of.velocity(data, box); });
            },
            py::arg("out"), py::arg("offset"), py::arg("size"))
        .def(
            "populations",
            [](Engine& e, py::array out) {
                fill(e, out, e.population_count(), [](Engine& engine, auto* data) { engine.populations(data); });
            },
            py::arg("out"))
        .def(
            "set_populations",
            [](Engine& e, const Doubles& values) {
                require_shape("values", values, window_shape(e, e.population_count()));
                const double* data = values.data();
                const InUse use(e);
                e.set_populations(data);
            },
            py::arg("values"))
        .def(
            "get_state",
            [](Engine& e, py::array out) {
                require_state("out", e, out);
                require_writeable("out", out);
                void* data = out.mutable_data();
                const InUse use(e);
                e.get_state(data);
            },
            py::arg("out"))
        .def(
            "set_state",
            [](Engine& e, const py::array& values) {
                require_state("values", e, values);
                const void* data = values.data();
                const InUse use(e);
                e.set_state(data);
            },
            py::arg("values"))
        .def(
            "boundary_numbers",
            [](Engine& e, int face) {
                check_face(e, face);
                std::vector<double> values;
                {
                    const InUse use(e);
                    values = e.boundary_numbers(face);
                }
                std::vector<py::ssize_t> shape = face_shape(e, face, 0);
                shape.insert(shape.begin(), e.boundary_number_count(face));
                return py::array_t<double>(shape, values.data());
            },
            py::arg("face"))
        .def(
            "set_boundary_numbers",
            [](Engine& e, const std::map<int, Doubles>& values) {
                std::map<int, std::vector<double>> numbers;
                for (const auto& [face, given] : values) {
                    check_face(e, face);
                    std::vector<py::ssize_t> shape = face_shape(e, face, 0);
                    shape.insert(shape.begin(), e.boundary_number_count(face));
                    require_shape("values", given, shape);
                    numbers.emplace(face, to_vector("values", given));
                }
                const InUse use(e);
                e.set_boundary_numbers(numbers);
            },
            py::arg("values"))
        .def_property_readonly("storage_dtype", &storage_dtype)
        .def_property_readonly("state_numbers", &Engine::state_count)
        .def_property_readonly("steps_per_update", [](const Engine& e) { return e.spec().state->steps_per_launch; })
        .def_property_readonly("memory_bytes",
                               [](const Engine& e) {
                                   const InUse use(e);
                                   return e.bytes();
                               })
        .def_static(
            "memory_needed",
            [](const std::string& stencil, const std::vector<int>& shape, const std::string& precision,
               const std::string& storage, const std::string& streaming, const std::string& device,
               const BlockTuples& blocks, int rank, bool thermal, bool keeps_velocity, bool takes_strain,
               const std::vector<std::pair<int, int>>& sponges, const std::string& state) {
                Setup setup;
                setup.state = engine::state_named(state, streaming, stencil);
                setup.device.name = device;
                setup.stencil = stencil;
                setup.shape = shape;
                setup.collision = setup.state == nullptr ? engine::collision_names(stencil).front() : Regularized::name;
                setup.parameters = {{"viscosity", 1.0}};
                if (takes_strain) {
                    setup.collision = RecursiveRegularized::name;
                    setup.parameters["hybrid"] = 0.5;
                }
                setup.precision = precision;
                setup.storage = storage;
                setup.streaming = streaming;
                setup.blocks = to_blocks(blocks, shape.size());
                if (thermal) {
                    setup.thermal = engine::ThermalSetup{};
                    setup.thermal->diffusivity = 1;
                }
                if (keeps_velocity) {
                    setup.turbulence = engine::TurbulenceSetup{WALE::name, 0.5, 1};
                }
                std::vector<engine::Sponge> layers;
                layers.reserve(sponges.size());
                for (const auto& [face, thickness] : sponges) {
                    layers.push_back({face, thickness, 0, 0, 1, {}});
                }
                return Engine::memory_needed(setup, rank, layers);
            },
            py::arg("stencil"), py::arg("shape"), py::arg("precision"), py::arg("storage"), py::arg("streaming"),
            py::arg("device") = "cpu", py::arg("blocks") = BlockTuples(), py::arg("rank") = 0,
            py::arg("thermal") = false, py::arg("keeps_velocity") = false, py::arg("takes_strain") = false,
            py::arg("sponges") = std::vector<std::pair<int, int>>(), py::arg("state") = "populations")
        .def_property_readonly("bytes_per_update", &bytes_per_update)
        .def_property_readonly("threads", [](const Engine& e) { return e.device().threads; })
        .def_property_readonly("isa", [](const Engine& e) { return e.device().isa; })
        .def_property_readonly("device", [](const Engine& e) { return e.device().name; })
        .def_property_readonly("solid", &solid)
        .def("time_single_block", &Engine::time_single_block, py::arg("timed"))
        .def_property_readonly("phase_seconds",
                               [](const Engine& e) {
                                   const engine::PhaseTimes times = phase_times(e);
                                   py::dict seconds;
                                   seconds["boundary"] = times.boundary;
                                   seconds["update"] = times.update;
                                   seconds["exchange"] = times.exchange;
                                   seconds["hidden exchange"] = times.hidden;
                                   return seconds;
                               })
        .def_property_readonly("update_seconds",
                               [](const Engine& e) {
                                   const engine::PhaseTimes times = phase_times(e);
                                   py::dict seconds;
                                   seconds["shell"] = times.shell;
                                   seconds["interior"] = times.interior;
                                   return seconds;
                               })
        .def_property_readonly("overlaps",
                               [](Engine& e) {
                                   const InUse use(e);
                                   return e.overlaps();
                               })
        .def("update_kernels", &update_kernels)
        .def_property_readonly("layout", &layout)
        .def_property_readonly("links", &links)
        .def_property_readonly("window", [](const Engine& e) { return as_pair(e.window(), e.domain().D); })
        .def_property_readonly("known", [](const Engine& e) { return as_pair(e.domain().known, e.domain().D); });
    bind_bodies(engine);
    bind_heat(engine);
    bind_gpu_arrays(module, engine);
    bind_samplers(module, engine);
    bind_scaled_values(engine);
    bind_sums(engine);
    bind_turbulence(module, engine);
}

}  // namespace lbm::bindings
