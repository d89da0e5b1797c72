// Binds the bodies of the engine: their cells, velocities and the links that their surfaces cut.
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
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

/// The parts of a shape: kind, whether it is placed, where its numbers begin and where its integers do.
using GivenParts = std::vector<std::tuple<int, bool, int, int>>;

template <std::size_t n, class T>
void put(const py::dict& given, const char* name, T (&out)[n]) {
    const auto values = given[name].cast<std::vector<T>>();
    if (values.size() != n) {
        throw std::invalid_argument(std::string(name) + ": " + std::to_string(n) + " numbers are needed");
    }
    std::copy(values.begin(), values.end(), out);
}

/// A body that moves: its `parts`, `numbers` and `table` (backend/moving_shape.h), in a frame of its own, which turns
/// about its `center`; a `ball` about it, of a centre and the square of a radius; the `size` of the box of cells about
/// it; and the `series` of the first of its numbers among the factors of a step (MovingStep). Vectors have three
/// components.
backend::MovingBodyData moving_body(const py::dict& given) {
    backend::MovingBodyData motion{
        {}, given["numbers"].cast<std::vector<double>>(), given["table"].cast<std::vector<int>>(), {}};
    for (const auto& [kind, is_placed, first, integers] : given["parts"].cast<GivenParts>()) {
        if (kind < 0 || kind >= backend::shape_kinds) {
            throw std::invalid_argument("kind: " + std::to_string(kind) + " given, is none of a shape");
        }
        motion.parts.push_back({backend::ShapeKind(kind), int(is_placed), first, integers});
    }
    put(given, "center", motion.body.center);
    put(given, "ball", motion.body.ball);
    put(given, "size", motion.body.size);
    motion.body.series = given["series"].cast<int>();
    return motion;
}

}  // namespace

void bind_bodies(EngineClass& engine) {
    engine
        .def("add_body", &add_body, py::arg("mask"), py::arg("velocity") = py::none(),
             py::arg("temperature") = py::none(), py::arg("links") = py::none())
        .def(
            "move_body",
            [](Engine& e, int body, const py::dict& motion) {
                check_body(e, body);
                backend::MovingBodyData given = moving_body(motion);
                const InUse use(e);
                e.move_body(body, std::move(given));
            },
            py::arg("body"), py::arg("motion"))
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
