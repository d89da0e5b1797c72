// No slip: half-way bounce-back off a wall at rest, half-way between cell centres.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// It has the highest precedence of all conditions: when the lid governed the links in the corners, the cubic cavity
/// converged at first order only, with errors of 9 % at 64 cells against 3 %.
struct NoSlip {
    static constexpr const char* name = "no-slip";
    static constexpr int precedence = 40;
    static constexpr Value value = Value::None;
    static constexpr Beyond beyond = Beyond::Wall;
};

}  // namespace lbm::boundary
