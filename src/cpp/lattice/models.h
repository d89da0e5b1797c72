// The list of the models: what a cell's update solves for, and what goes with it. A model has stencils, and a kernel of
// its own on each backend.
#pragma once

#include "boundary/no_slip.h"
#include "boundary/periodic.h"
#include "state/two_lattice.h"
#include "stencil.h"
#include "storage.h"
#include "type_list.h"

namespace lbm {

/// Where a temperature is: nowhere, in a number a cell beside the populations, or in their moments.
enum class TemperatureKind { None, Beside, Moment };

/// What a fluid may be driven by.
struct Drives {
    bool force;        // a volume, uniform or a field
    bool buoyancy;     // a force a volume for each unit of temperature
    bool gravity;      // an acceleration
    bool heat_source;  // heat a step, uniform or a field
};

/// What models share whose stencils reach the neighbours only: whatever stands at a cell's link gives its populations.
struct NeighborModel {
    /// The ways to keep the state that the model has.
    template <class State>
    static constexpr bool keeps = true;
    static constexpr bool takes_bodies = true;
    /// The conditions that hold on its faces.
    template <class Condition>
    static constexpr bool takes_face = true;
    /// Of how many axes faces may be other than periodic.
    static constexpr int walled_axes = 3;
    /// Initial states may have the first-order part that the velocity's gradients imply.
    static constexpr bool starts_from_gradients = true;
};

/// Mass and momentum, at one temperature.
struct Isothermal : NeighborModel {
    static constexpr const char* name = "isothermal";
    template <class S>
    static constexpr bool has_stencil = !Stencil<S>::multispeed;
    template <class Real, class Stored>
    static constexpr bool stores = true;
    static constexpr TemperatureKind temperature = TemperatureKind::None;
    static constexpr Drives drives = {true, false, false, false};
};

/// The same, and a temperature beside the populations that is advanced by finite differences (temperature.h), over
/// neighbours along axes and diagonals of planes.
struct HybridThermal : NeighborModel {
    static constexpr const char* name = "hybrid thermal";
    template <class S>
    static constexpr bool has_stencil = !Stencil<S>::multispeed && S::shell_weight[3] == 0;
    /// The temperature is stored as populations are, for which half precision has too few digits.
    template <class Real, class Stored>
    static constexpr bool stores = !IsSame<Stored, Half>::value;
    static constexpr TemperatureKind temperature = TemperatureKind::Beside;
    static constexpr Drives drives = {true, true, false, true};
};

/// A gas whose populations carry the energy too (multispeed.h). Its walls are cells behind a face that mirror those
/// before it, as many as its stencil reaches.
struct MultispeedThermal {
    static constexpr const char* name = "multispeed thermal";
    template <class S>
    static constexpr bool has_stencil = Stencil<S>::multispeed;
    /// As it is computed.
    template <class Real, class Stored>
    static constexpr bool stores = IsSame<Real, Stored>::value;
    template <class State>
    static constexpr bool keeps = IsSame<State, TwoLattice>::value;
    static constexpr bool takes_bodies = false;
    template <class Condition>
    static constexpr bool takes_face =
        IsSame<Condition, boundary::Periodic>::value || IsSame<Condition, boundary::NoSlip>::value;
    static constexpr int walled_axes = 1;
    static constexpr bool starts_from_gradients = false;
    static constexpr TemperatureKind temperature = TemperatureKind::Moment;
    static constexpr Drives drives = {false, false, true, false};
};

using Models = TypeList<Isothermal, HybridThermal, MultispeedThermal>;

}  // namespace lbm
