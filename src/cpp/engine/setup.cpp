// Translates a setup's words and numbers, refusing what cannot be.
#include "setup.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../lattice/collisions/mrt_rates.h"

namespace lbm::engine {
namespace {

using backend::CollisionKind;
using backend::NumberKind;
using backend::StencilKind;

/// The position of `given` among `known`, or an error that lists them.
int position(const std::string& argument, const std::string& given, const std::vector<std::string>& known) {
    const auto found = std::find(known.begin(), known.end(), given);
    if (found == known.end()) {
        std::string list;
        for (const std::string& name : known) {
            list += (list.empty() ? "'" : ", '") + name + "'";
        }
        throw std::invalid_argument(argument + ": '" + given + "' is not one of " + list);
    }
    return int(found - known.begin());
}

NumberKind number_kind(const std::string& argument, const std::string& name) {
    return NumberKind(position(argument, name, {"float16", "float32", "float64"}));
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

/// The number of axes, which that of the sizes must be.
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

template <class S>
void set_moment_rates(const Setup& setup, CollisionParameters<double>& parameters) {
    using Basis = MomentBasis<S>;
    double rate[Basis::groups];
    std::vector<std::string> settable;
    for (int g = 0; g < Basis::groups; ++g) {
        rate[g] = Basis::group[g].preset;
        if (g > 1) {
            settable.emplace_back(Basis::group[g].name);
        }
    }
    for (const auto& [name, value] : setup.rates) {
        const int g = 2 + position("rates", name, settable);
        if (!(value > 0 && value < 2)) {
            throw std::invalid_argument("rates: '" + name + "' is " + std::to_string(value) + ", not between 0 and 2");
        }
        rate[g] = value;
    }
    double moment_rate[S::Q], stress_share[S::Q];
    for (int k = 0; k < S::Q; ++k) {
        const int g = Basis::group_of[k];
        const bool with_stress = Moment<S>::sets_viscosity(k) || rate[g] == follows_viscosity;
        moment_rate[k] = with_stress ? parameters.omega : rate[g];
        stress_share[k] = with_stress ? 1 : 0;
    }
    parameters.moment_rates = cubic_rates<S>(moment_rate);
    parameters.stress_rates = cubic_rates<S>(stress_share);
}

/// Weights of neighbours along axes and diagonals.
struct Operators {
    double laplacian[2], slope[2];
};

/// In two dimensions those of three summed over the third.
Operators operators_of(const ThermalSetup& thermal, int D) {
    const bool isotropic = position("thermal operators", thermal.operators, {"isotropic", "printed"}) == 0;
    Operators o = isotropic ? Operators{{1.0 / 3, 1.0 / 6}, {1.0 / 6, 1.0 / 12}} : Operators{{2, -0.25}, {1, -0.125}};
    if (D == 2) {
        o.laplacian[0] += 2 * o.laplacian[1];
        o.slope[0] += 2 * o.slope[1];
    }
    return o;
}

/// Energy moment of a neighbour's population over the squared norm of that moment, along axes and diagonals
/// (d'Humieres et al., Phil. Trans. R. Soc. A 360 (2002) 437; Lallemand & Luo, Phys. Rev. E 61 (2000) 6546).
constexpr double energy_moment_3d[2] = {-11.0 / 2394, 8.0 / 2394}, energy_moment_2d[2] = {-1.0 / 36, 2.0 / 36};

void set_heat(const Setup& setup, backend::BlockSpec& spec) {
    const ThermalSetup& thermal = *setup.thermal;
    if (spec.stencil != StencilKind::D2Q9 && spec.stencil != StencilKind::D3Q19) {
        throw std::invalid_argument("thermal: goes with D2Q9 and D3Q19, not with " + setup.stencil);
    }
    if (spec.storage == NumberKind::Float16) {
        throw std::invalid_argument(
            "thermal: the temperature is stored as populations are, for which float16 has too few "
            "digits; use float32 or float64");
    }
    require_positive("thermal diffusivity", thermal.diffusivity);
    const int D = int(setup.shape.size());
    if (!thermal.buoyancy.empty() && thermal.buoyancy.size() != std::size_t(D)) {
        throw std::invalid_argument("thermal buoyancy: " + std::to_string(D) + " components are needed");
    }
    require_finite("thermal energy_coupling", thermal.energy_coupling);
    for (const double component : thermal.buoyancy) {
        require_finite("thermal buoyancy", component);
    }
    spec.heated = true;
    const Operators operators = operators_of(thermal, D);
    HeatParameters<double>& heat = spec.heat;
    for (int k = 0; k < 2; ++k) {
        heat.diffusion[k] = thermal.diffusivity * operators.laplacian[k];
        heat.slope[k] = operators.slope[k];
        heat.energy[k] = 2 * thermal.energy_coupling * (D == 2 ? energy_moment_2d : energy_moment_3d)[k];
    }
    std::copy(thermal.buoyancy.begin(), thermal.buoyancy.end(), heat.buoyancy);
}

void set_thermal_faces(const std::vector<std::string>& faces, Domain& domain) {
    if (!faces.empty() && faces.size() != 2 * std::size_t(domain.D)) {
        throw std::invalid_argument("thermal faces: " + std::to_string(2 * domain.D) + " are needed");
    }
    for (std::size_t f = 0; f < 2 * std::size_t(domain.D); ++f) {
        const bool periodic = domain.faces[f] == FaceKind::Periodic;
        domain.face_thermal[f] =
            !faces.empty() ? ThermalKind(position("thermal faces", faces[f], {"periodic", "adiabatic", "isothermal"}))
            : periodic     ? ThermalKind::Periodic
                           : ThermalKind::Adiabatic;
        if ((domain.face_thermal[f] == ThermalKind::Periodic) != periodic) {
            throw std::invalid_argument("thermal faces: those of the flow that are periodic must be, and no other");
        }
    }
}

void set_heat(const Setup& setup, Domain& domain) {
    const ThermalSetup& thermal = *setup.thermal;
    domain.heated = true;
    domain.diffusivity = thermal.diffusivity;
    const Operators operators = operators_of(thermal, domain.D);
    std::copy(operators.laplacian, operators.laplacian + 2, domain.heat_weight);
    set_thermal_faces(thermal.faces, domain);
}

/// Of a fluid whose populations carry the energy (see lattice/kinetic.h).
void set_kinetic(const Setup& setup, backend::BlockSpec& spec) {
    const auto require = [](bool right, const std::string& text) {
        if (!right) {
            throw std::invalid_argument(text);
        }
    };
    require(!spec.in_place, "streaming: D2Q37 streams between two lattices, 'two-lattice'");
    require(spec.storage == spec.precision, "storage: D2Q37 is stored as it is computed, in the precision");
    require(!setup.thermal, "thermal: D2Q37 has a temperature of its own");
    require(setup.smagorinsky == 0, "smagorinsky: D2Q37 has no eddy viscosity");
    require_positive("prandtl", setup.prandtl);
    require(setup.gravity.empty() || setup.gravity.size() == 2, "gravity: 2 components are needed");
    int walls = 0;
    for (std::size_t a = 0; a < 2; ++a) {
        require(spec.size[a] >= D2Q37::reach, "shape: D2Q37 takes at least 3 cells along each axis");
        for (std::size_t face = 2 * a; face < 2 * a + 2 && face < setup.faces.size(); ++face) {
            require(setup.faces[face] == "periodic" || setup.faces[face] == "no-slip",
                    "faces: those of D2Q37 are periodic or no-slip");
        }
        walls += spec.wraps[a] ? 0 : 1;
    }
    require(walls < 2, "faces: D2Q37 takes walls along one axis; the other must be periodic");
    KineticParameters<double>& k = spec.kinetic;
    const double tau = setup.viscosity / D2Q37::cs2 + 0.5, tau_third = (tau - 0.5) / setup.prandtl + 0.5;
    double square = 0;
    for (std::size_t d = 0; d < setup.gravity.size(); ++d) {
        const double g = setup.gravity[d];
        require_finite("gravity", g);
        k.gravity[d] = g;
        k.shift[d] = tau * g;
        square += g * g;
    }
    k.omega = 1 / tau;
    k.heating = tau * (1 - tau) * square / (2 * D2Q37::cs2);
    k.excess = setup.prandtl == 1 ? 0 : 1 - tau / tau_third;
    k.third = tau_third - 1;
}

}  // namespace

const std::vector<std::string>& stencil_names() {
    static const std::vector<std::string> names = {D2Q9::name, D3Q19::name, D3Q27::name, D2Q37::name};
    return names;
}

StencilKind stencil_kind(const std::string& name) { return StencilKind(position("stencil", name, stencil_names())); }

backend::BlockSpec block_spec(const Setup& setup) {
    backend::BlockSpec spec{};
    spec.stencil = stencil_kind(setup.stencil);
    const int D = checked_axes(setup);
    spec.collision =
        CollisionKind(position("collision", setup.collision, {"bgk", "trt", "mrt", "regularized", "thermal-bgk"}));
    spec.precision = number_kind("precision", setup.precision);
    spec.storage = number_kind("storage", setup.storage);
    if (spec.precision == NumberKind::Float16) {
        throw std::invalid_argument("precision: 'float16' is for storage only; use 'float32' or 'float64'");
    }
    if (spec.storage > spec.precision) {
        throw std::invalid_argument("storage: '" + setup.storage + "' is wider than precision '" + setup.precision +
                                    "'");
    }
    spec.in_place = position("streaming", setup.streaming, {"two-lattice", "in-place"}) == 1;

    require_positive("viscosity", setup.viscosity);
    require_positive("magic", setup.magic);
    if (!(setup.smagorinsky >= 0) || !std::isfinite(setup.smagorinsky)) {
        throw std::invalid_argument("smagorinsky: the constant must be zero or positive");
    }
    if (!setup.rates.empty() && spec.collision != CollisionKind::MRT) {
        throw std::invalid_argument("rates: only collision 'mrt' has them");
    }
    CollisionParameters<double>& p = spec.parameters;
    const double tau = 3 * setup.viscosity + 0.5;
    p.omega = 1 / tau;
    p.magic = setup.magic;
    p.omega_odd = 1 / (setup.magic / (tau - 0.5) + 0.5);
    p.eddy = 18 * std::sqrt(2.0) * setup.smagorinsky * setup.smagorinsky;

    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        if ((spec.collision == CollisionKind::ThermalBGK) != Stencil<S>::multispeed) {
            throw std::invalid_argument("collision: 'thermal-bgk' goes with D2Q37, and no other does");
        }
        if constexpr (!Stencil<S>::multispeed) {
            set_moment_rates<S>(setup, p);
        }
    });
    for (int d = 0; d < 3; ++d) {
        spec.size[d] = d < D ? setup.shape[d] : 1;
        const std::size_t face = 2 * std::size_t(d);  // the one block spans the domain, so it meets itself there
        spec.wraps[d] = d < D && (setup.faces.size() <= face || setup.faces[face] == "periodic");
    }
    check_size(spec.size);
    if (backend::is_kinetic(spec)) {
        set_kinetic(setup, spec);
    } else if (setup.thermal) {
        set_heat(setup, spec);
    }
    return spec;
}

backend::BlockSpec part_of(const backend::BlockSpec& whole, const Block& block) {
    backend::BlockSpec spec = whole;
    for (int d = 0; d < 3; ++d) {
        spec.size[d] = block.size[d];
        spec.wraps[d] = whole.wraps[d] && block.size[d] == whole.size[d];
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
    domain.stencil = stencil_kind(setup.stencil);
    domain.D = checked_axes(setup);
    for (int d = 0; d < 3; ++d) {
        domain.size[d] = d < domain.D ? setup.shape[d] : 1;
    }
    if (!setup.faces.empty() && setup.faces.size() != 2 * std::size_t(domain.D)) {
        throw std::invalid_argument("faces: " + std::to_string(2 * domain.D) + " are needed");
    }
    for (std::size_t f = 0; f < setup.faces.size(); ++f) {
        domain.faces[f] = FaceKind(position(
            "faces", setup.faces[f],
            {"periodic", "no-slip", "moving-wall", "free-slip", "velocity-inlet", "pressure-outlet", "outflow"}));
    }
    for (int a = 0; a < domain.D; ++a) {
        if ((domain.faces[2 * a] == FaceKind::Periodic) != (domain.faces[2 * a + 1] == FaceKind::Periodic)) {
            throw std::invalid_argument("faces: both faces of an axis must be periodic, or neither");
        }
    }
    if (setup.thermal) {
        set_heat(setup, domain);
    } else if (domain.stencil == StencilKind::D2Q37) {
        set_thermal_faces(setup.thermal_faces, domain);
        for (std::vector<double>& temperature : domain.face_temperature) {
            temperature = {D2Q37::cs2};
        }
    }
    return domain;
}

}  // namespace lbm::engine
