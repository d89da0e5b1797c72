// The list of the boundary conditions of the flow: the only place that names them all.
#pragma once

#include "../type_list.h"
#include "free_slip.h"
#include "moving_wall.h"
#include "no_slip.h"
#include "outflow.h"
#include "periodic.h"
#include "pressure_outlet.h"
#include "velocity_inlet.h"

namespace lbm::boundary {

using Conditions = TypeList<Periodic, NoSlip, MovingWall, FreeSlip, VelocityInlet, PressureOutlet, Outflow>;

/// Whether a condition changes what comes in along a link by a formula.
template <class Condition>
constexpr bool has_formula = requires {
    Condition::needs_moments;
};

/// Whether a condition has a formula of boundary cells.
template <class Condition>
constexpr bool has_cell_formula = requires {
    Condition::stored;
};

/// How many numbers each cell before a face keeps.
template <class Condition>
constexpr int stored_numbers() {
    if constexpr (has_cell_formula<Condition>) {
        return Condition::stored;
    } else {
        return 0;
    }
}

}  // namespace lbm::boundary
