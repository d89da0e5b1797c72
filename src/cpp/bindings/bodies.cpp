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

/// The links that a body's surface cuts: the condition of the walls, links, distances, and velocities if they differ.
using GivenLinks = std::tuple<std::string, Indices, Doubles, std::optional<Doubles>>;

engine::CutLinks cut_links(const Engine& e, const GivenLinks& given) {
    const auto& [condition, links, distance, velocity] = given;
    engine::CutLinks cuts{true, engine::wall_kind(condition), {links.data(), links.data() + links.size()}, {}, {}, {}};
    cuts.distance = to_vector("distance", distance);
    if (velocity) {
        require_shape("velocity of links", *velocity, {e.domain().D, links.size()});
        cuts.velocity = to_vector("velocity of links", *velocity);
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

template <std::size_t n>
void put(const char* name, const std::vector<double>& given, double (&out)[n]) {
    if (given.size() != n) {
        throw std::invalid_argument(std::string(name) + ": " + std::to_string(n) + " numbers are needed");
    }
    std::copy(given.begin(), given.end(), out);
}

void move_body(Engine& e, int body, const GivenParts& parts, const std::vector<double>& numbers,
               const std::vector<int>& table, const std::vector<double>& center, const std::vector<double>& ball,
               const std::vector<int>& size, int series) {
    check_body(e, body);
    backend::MovingBodyData motion{{}, numbers, table, {}};
    for (const auto& [kind, is_placed, first, integers] : parts) {
        if (kind < 0 || kind >= backend::shape_kinds) {
            throw std::invalid_argument("kind: " + std::to_string(kind) + " given, is none of a shape");
        }
        motion.parts.push_back({backend::ShapeKind(kind), int(is_placed), first, integers});
    }
    put("center", center, motion.body.center);
    put("ball", ball, motion.body.ball);
    if (size.size() != 3) {
        throw std::invalid_argument("size: 3 numbers are needed");
    }
    std::copy(size.begin(), size.end(), motion.body.size);
    motion.body.series = series;
    const InUse use(e);
    e.move_body(body, std::move(motion));
}

}  // namespace

void bind_bodies(EngineClass& engine) {
    engine
        .def("add_body", &add_body, py::arg("mask"), py::arg("velocity") = py::none(),
             py::arg("temperature") = py::none(), py::arg("links") = py::none())
        .def("move_body", &move_body, py::arg("body"), py::arg("parts"), py::arg("numbers"), py::arg("table"),
             py::arg("center"), py::arg("ball"), py::arg("size"), py::arg("series"))
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
