// Makes the table of the models from their types, and checks setups against it.
#include "models.h"

#include <algorithm>
#include <stdexcept>

#include "../lattice/boundary/all.h"

namespace lbm::engine {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void require(bool right, const std::string& argument, const std::string& text) {
    if (!right) {
        throw std::invalid_argument(argument + ": " + text);
    }
}

std::vector<std::string> names_of(const Drives& drives) {
    std::vector<std::string> names;
    const auto add = [&](bool is_there, const char* name) {
        if (is_there) {
            names.emplace_back(name);
        }
    };
    add(drives.force, "force");
    add(drives.buoyancy, "buoyancy");
    add(drives.gravity, "gravity");
    add(drives.heat_source, "heat_source");
    return names;
}

template <class Model>
ModelFacts facts() {
    ModelFacts f;
    f.name = Model::name;
    for_types(Stencils{}, [&](auto member) {
        using S = typename decltype(member)::type;
        if constexpr (Model::template has_stencil<S>) {
            f.stencils.emplace_back(S::name);
            f.smallest_size[S::name] = S::radius;
        }
    });
    for_types(backend::NumberPairs{}, [&](auto member) {
        using Real = typename decltype(member)::type::Real;
        using Stored = typename decltype(member)::type::Stored;
        if constexpr (Model::template stores<Real, Stored>) {
            f.numbers.emplace_back(number_names()[std::size_t(backend::number_kind<Real>)],
                                   number_names()[std::size_t(backend::number_kind<Stored>)]);
        }
    });
    for (int lattices = 1; lattices <= 2; ++lattices) {
        for_types(States{}, [&](auto member) {
            using State = typename decltype(member)::type;
            if (State::lattices == lattices && Model::template keeps<State>) {
                f.streamings.emplace_back(State::name);
            }
        });
    }
    for_types(boundary::Conditions{}, [&](auto member) {
        using Condition = typename decltype(member)::type;
        if constexpr (Model::template takes_face<Condition>) {
            f.faces.emplace_back(Condition::name);
        }
    });
    f.bodies = Model::takes_bodies;
    f.nonequilibrium = Model::starts_from_gradients;
    f.fields = {"density", "velocity"};
    f.temperature = Model::temperature;
    if constexpr (Model::temperature != TemperatureKind::None) {
        f.thermal_faces = thermal_face_names();
        f.fields.emplace_back("temperature");
        f.fields.emplace_back("heat_flux");
    }
    f.drives = names_of(Model::drives);
    return f;
}

}  // namespace

const std::vector<std::string>& number_names() {
    static const std::vector<std::string> names = {"float16", "float32", "float64"};
    return names;
}

const std::vector<std::string>& thermal_face_names() {
    static const std::vector<std::string> names = {"periodic", "adiabatic", "isothermal"};
    return names;
}

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        list += (list.empty() ? "'" : ", '") + name + "'";
    }
    return list;
}

bool ModelFacts::takes(const std::string& drive) const { return has(drives, drive); }

const std::vector<ModelFacts>& models() {
    static const std::vector<ModelFacts> all = [] {
        std::vector<ModelFacts> table;
        for_types(Models{}, [&](auto member) { table.push_back(facts<typename decltype(member)::type>()); });
        return table;
    }();
    return all;
}

const ModelFacts& facts_of(const backend::BlockSpec& spec) { return models()[std::size_t(spec.model)]; }

backend::ModelKind model_of(backend::StencilKind stencil, bool temperature_field) {
    const std::string& name = backend::names_of<Stencils>()[std::size_t(stencil)];
    std::vector<std::string> right;
    for (std::size_t k = 0; k < models().size(); ++k) {
        const ModelFacts& model = models()[k];
        if ((model.temperature == TemperatureKind::Field) == temperature_field) {
            if (has(model.stencils, name)) {
                return backend::ModelKind(k);
            }
            right.insert(right.end(), model.stencils.begin(), model.stencils.end());
        }
    }
    throw std::invalid_argument(std::string(temperature_field ? "thermal" : "stencil") + ": goes with " +
                                listed(right) + ", not with '" + name + "'");
}

void check_model(const backend::BlockSpec& spec, const std::vector<std::string>& faces) {
    const ModelFacts& model = facts_of(spec);
    const std::string with = " given with the model '" + model.name + "', must be ";
    const std::string& precision = number_names()[std::size_t(spec.precision)];
    const std::string& storage = number_names()[std::size_t(spec.storage)];
    std::vector<std::string> storages;
    for (const auto& [real, stored] : model.numbers) {
        if (real == precision) {
            storages.push_back(stored);
        }
    }
    require(has(storages, storage), "storage", "'" + storage + "'" + with + "one of " + listed(storages));
    const std::string streaming = spec.state->name;
    require(has(model.streamings, streaming) || !has(backend::names_of<States>(), streaming), "streaming",
            "'" + streaming + "'" + with + "one of " + listed(model.streamings));
    const int D = backend::with_stencil(spec.stencil, [](auto s) { return decltype(s)::D; });
    const int least = model.smallest_size.at(backend::names_of<Stencils>()[std::size_t(spec.stencil)]);
    for (int d = 0; d < D; ++d) {
        require(spec.size[d] >= least, "shape",
                std::to_string(spec.size[d]) + with + "at least " + std::to_string(least) + " along each axis");
    }
    const auto wrong =
        std::find_if(faces.begin(), faces.end(), [&](const auto& face) { return !has(model.faces, face); });
    if (wrong != faces.end()) {
        throw std::invalid_argument("faces: '" + *wrong + "'" + with + "one of " + listed(model.faces));
    }
}

void check_drive(const backend::BlockSpec& spec, const std::string& drive) {
    const ModelFacts& model = facts_of(spec);
    require(model.takes(drive), drive,
            "given with the model '" + model.name + "', which takes " + listed(model.drives));
}

void check_bodies(const backend::BlockSpec& spec) {
    const ModelFacts& model = facts_of(spec);
    require(model.bodies, "bodies", "given with the model '" + model.name + "', which takes none");
}

}  // namespace lbm::engine
