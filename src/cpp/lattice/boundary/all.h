// The lists of the boundary conditions of the flow, from which all that depends on them is derived.
#pragma once

#include "../type_list.h"
#include "bouzidi_wall.h"
#include "central_linear_wall.h"
#include "characteristic_inlet.h"
#include "characteristic_outlet.h"
#include "free_slip.h"
#include "interpolated_wall.h"
#include "local_outflow.h"
#include "moving_wall.h"
#include "no_slip.h"
#include "nonequilibrium_inlet.h"
#include "outflow.h"
#include "periodic.h"
#include "pressure_outlet.h"
#include "regularized_inlet.h"
#include "velocity_inlet.h"

namespace lbm::boundary {

using Conditions =
    TypeList<Periodic, NoSlip, MovingWall, FreeSlip, VelocityInlet, PressureOutlet, Outflow, NonequilibriumInlet,
             CharacteristicInlet, CharacteristicOutlet, RegularizedInlet, LocalOutflow>;

/// The schemes of walls of bodies whose distance is known: structs with a name and the `weights` of a distance.
using CutWalls = TypeList<InterpolatedWall, BouzidiWall, CentralLinearWall>;

/// Whether a condition computes the incoming population of a link by a formula.
template <class Condition>
constexpr bool has_formula = requires {
    Condition::needs_moments;
};

/// Whether a condition computes all incoming populations of a boundary cell by one formula.
template <class Condition>
constexpr bool has_cell_formula = requires {
    Condition::stored;
};

/// Whether a condition replaces all populations of a boundary cell once they are complete.
template <class Condition>
constexpr bool replaces_populations = requires {
    Condition::replaces;
};

/// How many numbers each boundary cell of the condition keeps from step to step.
template <class Condition>
constexpr int stored_numbers() {
    if constexpr (has_cell_formula<Condition>) {
        return Condition::stored;
    } else {
        return 0;
    }
}

}  // namespace lbm::boundary
