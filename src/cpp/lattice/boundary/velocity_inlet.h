// Velocity inlet: prescribes the velocity at a face.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// Half-way bounce-back as off a moving wall, but the wall momentum term uses the density of the cell.
struct VelocityInlet {
    static constexpr const char* name = "velocity-inlet";
    static constexpr int precedence = 20;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Wall;
    static constexpr bool needs_moments = true;

    template <class S>
    static double link_value(const Wall& wall, int i) {
        return wall_momentum_at_unit_density<S>(wall, i);
    }

    template <class S, class Real, class Populations>
    LBM_HD static Real incoming(const Link<Real>& link, const CellMoments<Real>& cell, const Populations& f) {
        return bounced_back(f.outgoing(), link.value * cell.inertia());
    }
};

}  // namespace lbm::boundary
