// The list of the models: what a cell's update solves for. A model has stencils, and a kernel of its own on each
// backend.
#pragma once

#include "stencil.h"
#include "storage.h"
#include "type_list.h"

namespace lbm {

/// Mass and momentum, at one temperature.
struct Isothermal {
    static constexpr const char* name = "isothermal";
    template <class S>
    static constexpr bool has_stencil = !Stencil<S>::multispeed;
    template <class Real, class Stored>
    static constexpr bool stores = true;
};

/// The same, and a temperature beside the populations that is advanced by finite differences (temperature.h), over
/// neighbours along axes and diagonals of planes.
struct HybridThermal {
    static constexpr const char* name = "hybrid thermal";
    template <class S>
    static constexpr bool has_stencil = !Stencil<S>::multispeed && S::shell_weight[3] == 0;
    /// The temperature is stored as populations are, for which half precision has too few digits.
    template <class Real, class Stored>
    static constexpr bool stores = !IsSame<Stored, Half>::value;
};

/// A gas whose populations carry the energy too (kinetic.h).
struct MultispeedThermal {
    static constexpr const char* name = "multispeed thermal";
    template <class S>
    static constexpr bool has_stencil = Stencil<S>::multispeed;
    /// As it is computed.
    template <class Real, class Stored>
    static constexpr bool stores = IsSame<Real, Stored>::value;
};

using Models = TypeList<Isothermal, HybridThermal, MultispeedThermal>;

}  // namespace lbm
