// The configurations that tests run through, and short ways to make engines and fill them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../src/cpp/engine/engine.h"

namespace tests {

/// Calls visit with an object of each stencil whose populations carry mass and momentum alone.
template <class Visit>
void for_stencils(Visit&& visit) {
    lbm::for_types(lbm::Stencils{}, [&](auto member) {
        using S = typename decltype(member)::type;
        if constexpr (lbm::Isothermal::has_stencil<S>) {
            visit(S{});
        }
    });
}

template <class S>
lbm::backend::StencilKind kind_of() {
    return lbm::engine::stencil_kind(S::name);
}

/// The pairs of arithmetic and storage that there are.
struct Numbers {
    std::string precision;
    std::string storage;
};
inline const std::vector<Numbers> all_numbers = {{"float64", "float64"},
                                                 {"float64", "float32"},
                                                 {"float64", "float16"},
                                                 {"float32", "float32"},
                                                 {"float32", "float16"}};
inline const std::vector<std::string> isothermal_stencils = [] {
    std::vector<std::string> names;
    for_stencils([&](auto s) { names.emplace_back(decltype(s)::name); });
    return names;
}();
inline const std::vector<std::string> all_streamings = {"two-lattice", "in-place"};

/// Faces named by one word an axis, "low/high" where the two differ.
std::vector<std::string> faces_of(int D, const std::vector<std::string>& by_axis);

/// A small domain of odd sizes, float64.
lbm::engine::Setup small_setup(const std::string& stencil);

/// A number in [-1, 1) that depends on its arguments only.
double noise(std::uint64_t seed, std::uint64_t index);

/// Gives faces and bodies of an engine values where they take some, and a state that is not at rest.
void disturb(lbm::engine::Engine& engine, std::uint64_t seed = 1);

/// One cell, or with `moving` a bar of two cells, amid the domain.
void add_body(lbm::engine::Engine& engine, bool moving);

std::vector<double> density_of(lbm::engine::Engine& engine);
std::vector<double> velocity_of(lbm::engine::Engine& engine);
std::vector<double> populations_of(lbm::engine::Engine& engine);

/// The bytes of the stored numbers.
std::vector<unsigned char> state_of(lbm::engine::Engine& engine);

}  // namespace tests
