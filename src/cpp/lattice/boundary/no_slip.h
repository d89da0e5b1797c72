// A wall at rest, half-way between cell centres: each population that departs towards it comes back.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// Of all walls the one that governs: where a lid governed the corners too, the cubic cavity converged at first order
/// only, with errors of 9 % at 64 cells against 3 %.
struct NoSlip {
    static constexpr const char* name = "no-slip";
    static constexpr int precedence = 40;
    static constexpr Value value = Value::None;
};

}  // namespace lbm::boundary
