// The list of the models. A model says which equations a cell's update solves, and which stencils, number types,
// boundary conditions and drives it supports. Each backend has an update kernel for each model.
#pragma once

#include "boundary/no_slip.h"
#include "boundary/periodic.h"
#include "state/two_lattice.h"
#include "stencil.h"
#include "storage.h"
#include "type_list.h"

namespace lbm {

/// How a model represents the temperature: not at all, as a field of its own (one stored number for each cell in
/// addition to the populations), or as a moment of the populations.
enum class TemperatureKind { None, Field, Moment };

/// What may drive the fluid of a model.
struct Drives {
    bool force;        // force per volume, uniform or a field
    bool buoyancy;     // force per volume and unit of temperature
    bool gravity;      // acceleration
    bool heat_source;  // temperature increase per step, uniform or a field
};

/// Base of the models whose stencils connect nearest neighbours only. Any boundary condition or body can supply the
/// incoming population of such a link, so these models support all of them.
struct NeighborModel {
    /// Whether the model runs with a streaming pattern.
    template <class State>
    static constexpr bool keeps = true;
    static constexpr bool takes_bodies = true;
    /// Whether the model supports a boundary condition on the faces of the domain.
    template <class Condition>
    static constexpr bool takes_face = true;
    /// The number of axes whose faces may be other than periodic.
    /// Whether initial states may include the first-order non-equilibrium part that the velocity gradients imply.
    static constexpr bool starts_from_gradients = true;
};

/// Solves for mass and momentum at constant temperature.
struct Isothermal : NeighborModel {
    static constexpr const char* name = "isothermal";
    template <class S>
    static constexpr bool has_stencil = !Stencil<S>::multispeed;
    template <class Real, class Stored>
    static constexpr bool stores = true;
    static constexpr TemperatureKind temperature = TemperatureKind::None;
    static constexpr Drives drives = {true, false, false, false};
};

/// Solves for mass and momentum with the populations, and for a temperature with finite differences (temperature.h).
/// The finite-difference stencil has the neighbours along the axes and the diagonals of the coordinate planes.
struct HybridThermal : NeighborModel {
    static constexpr const char* name = "hybrid thermal";
    template <class S>
    static constexpr bool has_stencil = !Stencil<S>::multispeed && S::shell_weight[3] == 0;
    /// The temperature is stored in the type of the populations; half precision has too few digits for it.
    template <class Real, class Stored>
    static constexpr bool stores = !IsSame<Stored, Half>::value;
    static constexpr TemperatureKind temperature = TemperatureKind::Field;
    static constexpr Drives drives = {true, true, false, true};
};

/// Solves for mass, momentum and energy of an ideal gas with one set of populations (multispeed.h). A wall is a layer
/// of halo cells, as deep as the stencil's radius, that mirror the fluid cells in front of the face.
struct MultispeedThermal {
    static constexpr const char* name = "multispeed thermal";
    template <class S>
    static constexpr bool has_stencil = Stencil<S>::multispeed;
    /// Populations are stored in the arithmetic type only.
    template <class Real, class Stored>
    static constexpr bool stores = IsSame<Real, Stored>::value;
    template <class State>
    static constexpr bool keeps = IsSame<State, TwoLattice>::value;
    static constexpr bool takes_bodies = false;
    template <class Condition>
    static constexpr bool takes_face =
        IsSame<Condition, boundary::Periodic>::value || IsSame<Condition, boundary::NoSlip>::value;
    static constexpr bool starts_from_gradients = false;
    static constexpr TemperatureKind temperature = TemperatureKind::Moment;
    static constexpr Drives drives = {false, false, true, false};
};

using Models = TypeList<Isothermal, HybridThermal, MultispeedThermal>;

}  // namespace lbm
