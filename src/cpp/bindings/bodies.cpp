// Binds the bodies of the engine: their cells, velocities and the links that their surfaces cut.
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../engine/setup.h"
#include "bindings.h"
#include "engine_arrays.h"

namespace lbm::bindings {
namespace {

using Indices = py::array_t<std::int64_t, py::array::c_style>;

/// The links that a body's surface cuts: the scheme of the walls, empty for half-way ones, links, distances, and
/// velocities if they differ; then whether the temperature has its wall there too, and temperatures if they differ.
using GivenLinks = std::tuple<std::string, Indices, Doubles, std::optional<Doubles>, bool, std::optional<Doubles>>;

engine::CutLinks cut_links(const Engine& e, const GivenLinks& given) {
    const auto& [scheme, links, distance, velocity, hold_temperature, temperature] = given;
    engine::CutLinks cuts;
    cuts.are_given = !scheme.empty();
    if (cuts.are_given) {
        cuts.scheme = engine::wall_kind(scheme);
    }
    cuts.links.assign(links.data(), links.data() + links.size());
    cuts.distance = to_vector("distance", distance);
    if (velocity) {
        require_shape("velocity of links", *velocity, {e.domain().D, links.size()});
        cuts.velocity = to_vector("velocity of links", *velocity);
    }
    cuts.hold_temperature = hold_temperature;
    if (temperature) {
        require_shape("temperature of links", *temperature, {links.size()});
        cuts.temperature = to_vector("temperature of links", *temperature);
    }
    return cuts;
}

int add_body(Engine& e, const py::array_t<bool, py::array::c_style>& mask, const std::optional<Doubles>& velocity,
             const std::optional<Doubles>& temperature, const std::optional<GivenLinks>& links) {
    require_shape("mask", mask, known_shape(e, 0));
    std::vector<bool> cells(mask.data(), mask.data() + mask.size());
    std::vector<double> values =
        velocity ? vectors("velocity", e, *velocity, known_shape(e, e.domain().D)) : std::vector<double>{};
    std::vector<double> temperatures =
        temperature ? scalars("temperature", *temperature, known_shape(e, 0)) : std::vector<double>{};
    engine::CutLinks cuts = links ? cut_links(e, *links) : engine::CutLinks{};
    const InUse use(e);
    return e.add_body(cells, std::move(values), std::move(temperatures), std::move(cuts));
}

}  // namespace

void bind_bodies(EngineClass& engine) {
    engine
        .def("add_body", &add_body, py::arg("mask"), py::arg("velocity") = py::none(),
             py::arg("temperature") = py::none(), py::arg("links") = py::none())
        .def(
            "set_body_velocity",
            [](Engine& e, int body, const Doubles& velocity) {
                check_body(e, body);
                std::vector<double> values = vectors("velocity", e, velocity, known_shape(e, e.domain().D));
                const InUse use(e);
                e.set_body_velocity(body, std::move(values));
            },
            py::arg("body"), py::arg("velocity"))
        .def(
            "set_link_velocity",
            [](Engine& e, int body, const Doubles& velocity) {
                check_body(e, body);
                const Index links = e.domain().body_cuts[std::size_t(body)].count();
                require_shape("velocity of links", velocity, {e.domain().D, links});
                std::vector<double> values = to_vector("velocity of links", velocity);
                const InUse use(e);
                e.set_link_velocity(body, std::move(values));
            },
            py::arg("body"), py::arg("velocity"));
}

}  // namespace lbm::bindings
