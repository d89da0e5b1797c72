// Moving wall: half-way bounce-back off a wall that moves in its own plane.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// The wall momentum term uses one reference density for the whole wall. Mass that it takes from one link it then gives
/// to another, so that a closed box keeps its mass.
struct MovingWall {
    static constexpr const char* name = "moving-wall";
    static constexpr int precedence = 30;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Wall;
    static constexpr bool needs_moments = false;

    template <class S>
    static double link_value(const Wall& wall, int i) {
        return wall_momentum_at_unit_density<S>(wall, i) * wall.inertia;
    }

    template <class S, class Real, class Populations>
    LBM_HD static Real incoming(const Link<Real>& link, const CellMoments<Real>&, const Populations& f) {
        return bounced_back(f.outgoing(), link.value);
    }
};

}  // namespace lbm::boundary
