// Translates the words and numbers of a setup and refuses invalid ones.
#include "setup.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../backend/moment_kind.h"
#include "../lattice/collisions/mrt_rates.h"
#include "custom_parameters.h"
#include "given_parameters.h"
#include "models.h"

namespace lbm::engine {
namespace {

using backend::CollisionKind;
using backend::NumberKind;
using backend::StencilKind;

/// The position of `given` among `known`; throws an error that lists them if it is not there.
int position(const std::string& argument, const std::string& given, const std::vector<std::string>& known) {
    const auto found = std::find(known.begin(), known.end(), given);
    if (found == known.end()) {
        throw std::invalid_argument(argument + ": '" + given + "' is not one of " + listed(known));
    }
    return int(found - known.begin());
}

void require_positive(const std::string& argument, double value) {
    if (!(value > 0) || !std::isfinite(value)) {
        throw std::invalid_argument(argument + ": " + std::to_string(value) + " is not a positive number");
    }
}

void require_finite(const std::string& argument, double value) {
    if (!std::isfinite(value)) {
        throw std::invalid_argument(argument + ": " + std::to_string(value) + " given, must be finite");
    }
}

FaceKind condition_kind(const std::string& name) {
    return FaceKind(position("faces", name, backend::names_of<boundary::Conditions>()));
}

/// The stencil's number of axes; throws unless the setup has as many sizes.
int checked_axes(const Setup& setup) {
    return backend::with_stencil(stencil_kind(setup.stencil), [&](auto s) {
        using S = decltype(s);
        if (setup.shape.size() != std::size_t(S::D)) {
            throw std::invalid_argument("shape: " + std::string(S::name) + " takes " + std::to_string(S::D) +
                                        " sizes, not " + std::to_string(setup.shape.size()));
        }
        return S::D;
    });
}

/// The finite-difference operators of the temperature: weights of neighbours along axes and diagonals.
struct Operators {
    double laplacian[2], slope[2];
};

/// In two dimensions the weights are those of three dimensions summed over the third.
Operators operators_of(const ThermalSetup& thermal, int D) {
    const bool isotropic = position("thermal operators", thermal.operators, {"isotropic", "obrecht2013"}) == 0;
    Operators o = isotropic ? Operators{{1.0 / 3, 1.0 / 6}, {1.0 / 6, 1.0 / 12}} : Operators{{2, -0.25}, {1, -0.125}};
    if (D == 2) {
        o.laplacian[0] += 2 * o.laplacian[1];
        o.slope[0] += 2 * o.slope[1];
    }
    return o;
}

/// Sets the parameters of the temperature; the pairs of the stencil must lie along axes and diagonals.
template <class S>
void set_heat(const Setup& setup, backend::BlockSpec& spec) {
    const ThermalSetup& thermal = *setup.thermal;
    require_positive("thermal diffusivity", thermal.diffusivity);
    if (!thermal.buoyancy.empty() && thermal.buoyancy.size() != std::size_t(S::D)) {
        throw std::invalid_argument("thermal buoyancy: " + std::to_string(S::D) + " components are needed");
    }
    require_finite("thermal energy_coupling", thermal.energy_coupling);
    for (const double component : thermal.buoyancy) {
        require_finite("thermal buoyancy", component);
    }
    const Operators operators = operators_of(thermal, S::D);
    constexpr double share[2] = {share_of_energy<S>(1), share_of_energy<S>(2 * S::D + 1)};
    HeatParameters<double>& heat = spec.heat;
    for (int k = 0; k < 2; ++k) {
        heat.diffusion[k] = thermal.diffusivity * operators.laplacian[k];
        heat.slope[k] = operators.slope[k];
        heat.energy[k] = 2 * thermal.energy_coupling * share[k];
    }
    std::copy(thermal.buoyancy.begin(), thermal.buoyancy.end(), heat.buoyancy);
}

void set_thermal_faces(const std::vector<std::string>& faces, Domain& domain) {
    if (!faces.empty() && faces.size() != 2 * std::size_t(domain.D)) {
        throw std::invalid_argument("thermal faces: " + std::to_string(2 * domain.D) + " are needed");
    }
    for (std::size_t f = 0; f < 2 * std::size_t(domain.D); ++f) {
        const bool periodic = is_periodic(domain.faces[f]);
        domain.face_thermal[f] = !faces.empty() ? ThermalKind(position("thermal faces", faces[f], thermal_face_names()))
                                 : periodic     ? ThermalKind::Periodic
                                                : ThermalKind::Adiabatic;
        if ((domain.face_thermal[f] == ThermalKind::Periodic) != periodic) {
            throw std::invalid_argument("thermal faces: those of the flow that are periodic must be, and no other");
        }
    }
}

void set_heat(const Setup& setup, Domain& domain) {
    const ThermalSetup& thermal = *setup.thermal;
    domain.is_hybrid_thermal = true;
    domain.diffusivity = thermal.diffusivity;
    const Operators operators = operators_of(thermal, domain.D);
    std::copy(operators.laplacian, operators.laplacian + 2, domain.heat_weight);
    set_thermal_faces(thermal.faces, domain);
}

/// Makes the parameters of the collision, which reads and checks them.
template <class S, class Collision>
void set_collision(const Setup& setup, backend::BlockSpec& spec) {
    const GivenParameters given(Collision::name, setup.parameters);
    const auto parameters = Collision::template parameters<S>(given);
    if constexpr (requires { Collision::has_incompressible; }) {
        if (Collision::has_incompressible && given.at_least_zero("incompressible", 0) > 0) {
            spec.compressibility = 0;
        }
    }
    given.refuse_others();
    spec.omega = parameters.omega;
    if constexpr (requires { parameters.smagorinsky_factor; }) {
        spec.has_eddy_viscosity = parameters.smagorinsky_factor > 0;
    }
    if constexpr (requires { parameters.hybrid; }) {
        spec.takes_strain = parameters.hybrid < 1;
    }
    if constexpr (requires { parameters.gravity; }) {
        std::copy(std::begin(parameters.gravity), std::end(parameters.gravity), spec.gravity);
    }
    spec.parameters = numbers_of(parameters);
}

template <class S>
void set_physics(const Setup& setup, backend::BlockSpec& spec) {
    backend::with_collision(spec.collision, [&](auto c) {
        using Collision = decltype(c);
        if constexpr (Collision::template goes_with<S>) {
            set_collision<S, Collision>(setup, spec);
        } else {
            throw std::invalid_argument("collision: '" + setup.collision + "' does not go with " + S::name +
                                        ", which takes " + listed(collision_names(S::name)));
        }
    });
}

/// Sets the turbulence model of velocity gradients, which goes with any linear or other collision of a fluid's flow
/// whose rate of the stress can differ between cells: all of the list but those of multispeed stencils.
void set_turbulence(const TurbulenceSetup& given, backend::BlockSpec& spec) {
    std::vector<std::string> names;
    for_types(TurbulenceModels{}, [&](auto member) {
        using Model = typename decltype(member)::type;
        if constexpr (Model::takes_gradients) {
            names.emplace_back(Model::name);
            if (given.model == Model::name) {
                spec.turbulence = backend::turbulence_kind<Model>;
                spec.turbulence_factor = Model::factor(given.constant);
            }
        }
    });
    position("turbulence", given.model, names);
    require_positive("turbulence constant", given.constant);
    if (given.every < 1 || given.every > most_steps_between) {
        throw std::invalid_argument("turbulence every: " + std::to_string(given.every) + " given, must be 1 to " +
                                    std::to_string(most_steps_between));
    }
    if (spec.custom || backend::is_multispeed(spec) || spec.has_eddy_viscosity) {
        throw std::invalid_argument("turbulence: '" + given.model +
                                    "' given with a collision of the user's, with a multispeed stencil or beside the "
                                    "Smagorinsky constant of the collision, must be without them");
    }
    if (spec.takes_strain && given.every > 1) {
        throw std::invalid_argument("turbulence every: " + std::to_string(given.every) +
                                    " given with a hybrid collision, which takes velocity gradients in each step, "
                                    "must be 1");
    }
    spec.refresh_every = given.every;
}

/// Refuses what a state of moments does not go with. That faces are periodic is asked where all states are that advance
/// several steps at once.
void check_moments(const Setup& setup, const backend::BlockSpec& spec) {
    const auto refuse = [](const std::string& given, const std::string& right) {
        throw std::invalid_argument("state: 'moments' given with " + given + ", goes with " + right);
    };
    const std::vector<std::string> names = moment_collision_names();
    if (setup.custom || std::find(names.begin(), names.end(), setup.collision) == names.end()) {
        refuse(setup.custom ? "a collision of the user's" : "the collision '" + setup.collision + "'", listed(names));
    }
    if (backend::has_temperature(spec)) {
        refuse("a temperature", "flows at one temperature");
    }
    if (spec.takes_strain || spec.turbulence != backend::no_turbulence) {
        refuse("velocity gradients", "collisions and turbulence models that take none");
    }
    if (spec.storage != spec.precision) {
        refuse("the storage '" + setup.storage + "' in the precision '" + setup.precision + "'", "one type for both");
    }
}

}  // namespace

NumberKind number_kind(const std::string& argument, const std::string& name) {
    return NumberKind(position(argument, name, number_names()));
}

CutWallKind wall_kind(const std::string& name) {
    return CutWallKind(position("condition of links", name, backend::names_of<boundary::CutWalls>()));
}

StencilKind stencil_kind(const std::string& name) {
    return StencilKind(position("stencil", name, backend::names_of<Stencils>()));
}

const backend::StateKind* state_named(const std::string& name, const std::string& streaming,
                                      const std::string& stencil) {
    if (position("state", name, {"populations", "moments"}) == 0) {
        return nullptr;
    }
    const int D = backend::with_stencil(stencil_kind(stencil), [](auto s) { return decltype(s)::D; });
    if (position("streaming", streaming, backend::names_of<States>()) == std::size_t(position_in<States, InPlace>)) {
        return D == 2 ? &backend::moment_state_in_place_2d : &backend::moment_state_in_place;
    }
    return D == 2 ? &backend::moment_state_2d : &backend::moment_state;
}

std::vector<std::string> moment_collision_names() {
    std::vector<std::string> names;
    for_types(Collisions{}, [&](auto member) {
        using Collision = typename decltype(member)::type;
        if constexpr (is_fixed_by_moments<Collision>) {
            names.emplace_back(Collision::name);
        }
    });
    return names;
}

std::vector<std::string> moment_faces() {
    std::vector<std::string> names;
    for_types(boundary::Conditions{}, [&](auto member) {
        using Condition = typename decltype(member)::type;
        constexpr bool is_local = boundary::has_formula<Condition> && Condition::precedence > 0;
        if (is_local || IsSame<Condition, boundary::Periodic>::value || IsSame<Condition, boundary::NoSlip>::value ||
            IsSame<Condition, boundary::FreeSlip>::value) {
            names.emplace_back(Condition::name);
        }
    });
    return names;
}

std::vector<std::string> collision_names(const std::string& stencil) {
    if (stencil.empty()) {
        return backend::names_of<Collisions>();
    }
    return backend::with_stencil(stencil_kind(stencil), [](auto s) {
        using S = decltype(s);
        std::vector<std::string> names;
        for_types(Collisions{}, [&](auto member) {
            using Collision = typename decltype(member)::type;
            if constexpr (Collision::template goes_with<S>) {
                names.emplace_back(Collision::name);
            }
        });
        return names;
    });
}

backend::BlockSpec block_spec(const Setup& setup) {
    backend::BlockSpec spec{};
    spec.stencil = stencil_kind(setup.stencil);
    const int D = checked_axes(setup);
    if (!setup.custom) {
        spec.collision = CollisionKind(position("collision", setup.collision, backend::names_of<Collisions>()));
    }
    spec.precision = number_kind("precision", setup.precision);
    spec.storage = number_kind("storage", setup.storage);
    if (spec.precision == NumberKind::Float16) {
        throw std::invalid_argument("precision: 'float16' is for storage only; use 'float32' or 'float64'");
    }
    if (spec.storage > spec.precision) {
        throw std::invalid_argument("storage: '" + setup.storage + "' is wider than precision '" + setup.precision +
                                    "'");
    }
    const std::size_t streaming = std::size_t(position("streaming", setup.streaming, backend::names_of<States>()));
    spec.state = setup.state != nullptr ? setup.state : backend::state_kinds()[streaming];

    spec.model = model_of(spec.stencil, setup.thermal.has_value());
    if (setup.custom) {
        set_custom(setup, spec);
    } else {
        backend::with_stencil(spec.stencil, [&](auto s) { set_physics<decltype(s)>(setup, spec); });
    }
    if (setup.turbulence) {
        set_turbulence(*setup.turbulence, spec);
    }
    if (spec.state->keeps_moments) {
        check_moments(setup, spec);
    }
    for (int d = 0; d < 3; ++d) {
        spec.size[d] = d < D ? setup.shape[d] : 1;
        const std::size_t face =
            2 * std::size_t(d);  // a single block spans the domain, so that every periodic axis is self-periodic
        spec.self_periodic[d] = d < D && (setup.faces.size() <= face || setup.faces[face] == boundary::Periodic::name);
    }
    check_size(spec.size);
    check_model(spec, setup.faces);
    for (std::size_t f = 0; f < std::min(setup.faces.size(), std::size_t(6)); ++f) {
        spec.stored[f] = with_condition(condition_kind(setup.faces[f]),
                                        [](auto c) { return boundary::stored_numbers<decltype(c)>(); });
    }
    if (setup.thermal) {
        backend::with_stencil(spec.stencil, [&](auto s) {
            if constexpr (HybridThermal::has_stencil<decltype(s)>) {
                set_heat<decltype(s)>(setup, spec);
            }
        });
    }
    return spec;
}

backend::BlockSpec part_of(const backend::BlockSpec& whole, const Block& block) {
    backend::BlockSpec spec = whole;
    for (int d = 0; d < 3; ++d) {
        spec.size[d] = block.size[d];
        spec.self_periodic[d] = whole.self_periodic[d] && block.size[d] == whole.size[d];
        spec.is_part = spec.is_part || block.size[d] < whole.size[d];
    }
    spec.cuts_rows = block.size[0] < whole.size[0];
    for (int face = 0; face < 6; ++face) {
        spec.stored[face] = block.is_at(face, whole.size) ? whole.stored[face] : 0;
    }
    return spec;
}

Layout make_layout(const Setup& setup, const backend::BlockSpec& whole) {
    Layout layout =
        setup.blocks.empty() ? Layout::single(whole.size, setup.device.name) : Layout(whole.size, setup.blocks);
    const int ranks = setup.comm == nullptr ? 1 : setup.comm->size();
    std::vector<bool> has_block(std::size_t(ranks), false);
    for (const Block& block : layout.blocks()) {
        if (block.rank < 0 || block.rank >= ranks) {
            throw std::invalid_argument("layout: a block is of rank " + std::to_string(block.rank) +
                                        ", but there are " + std::to_string(ranks) + " processes, numbered from 0");
        }
        has_block[std::size_t(block.rank)] = true;
    }
    const auto idle = std::find(has_block.begin(), has_block.end(), false);
    if (idle != has_block.end()) {
        throw std::invalid_argument("layout: no block is of rank " + std::to_string(idle - has_block.begin()) +
                                    ", but there are " + std::to_string(ranks) + " processes");
    }
    return layout;
}

Domain make_domain(const Setup& setup) {
    Domain domain{};
    std::fill(domain.faces, domain.faces + 6, face_kind<boundary::Periodic>);
    domain.stencil = stencil_kind(setup.stencil);
    domain.D = checked_axes(setup);
    for (int d = 0; d < 3; ++d) {
        domain.size[d] = d < domain.D ? setup.shape[d] : 1;
        domain.known.size[d] = domain.size[d];
    }
    if (!setup.faces.empty() && setup.faces.size() != 2 * std::size_t(domain.D)) {
        throw std::invalid_argument("faces: " + std::to_string(2 * domain.D) + " are needed");
    }
    for (std::size_t f = 0; f < setup.faces.size(); ++f) {
        domain.faces[f] = condition_kind(setup.faces[f]);
    }
    for (int a = 0; a < domain.D; ++a) {
        if (is_periodic(domain.faces[2 * a]) != is_periodic(domain.faces[2 * a + 1])) {
            throw std::invalid_argument("faces: both faces of an axis must be periodic, or neither");
        }
    }
    const ModelFacts& model = models()[std::size_t(model_of(domain.stencil, setup.thermal.has_value()))];
    if (setup.thermal) {
        set_heat(setup, domain);
    } else if (model.temperature == TemperatureKind::Moment) {
        set_thermal_faces(setup.thermal_faces, domain);
        const double cs2 = backend::with_stencil(domain.stencil, [](auto s) { return decltype(s)::cs2; });
        for (std::vector<double>& temperature : domain.face_temperature) {
            temperature = {cs2};
        }
    }
    return domain;
}

}  // namespace lbm::engine
