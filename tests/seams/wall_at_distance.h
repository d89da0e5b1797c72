// A boundary condition for testing the extension point for link formulas: a resting wall at a given distance of half
// a link at least, by linear interpolation (Bouzidi, Firdaouss & Lallemand, Phys. Fluids 13 (2001) 3452, eq. 5).
#pragma once

#include "condition.h"

namespace lbm::boundary {

struct WallAtDistance {
    static constexpr const char* name = "wall-at-distance";
    static constexpr int precedence = 35;
    static constexpr Value value = Value::Number;  // the distance
    static constexpr Beyond beyond = Beyond::Cell;
    static constexpr double preset = 0.5;
    static constexpr bool needs_moments = false;

    template <class S>
    static double link_value(const Wall& wall, int /*i*/) {
        return wall.value[0];
    }

    template <class S, class Real, class Populations>
    LBM_HD static Real incoming(const Link<Real>& link, const CellMoments<Real>&, const Populations& f) {
        const Real twice = Real(2) * link.value;
        return (f.outgoing() + (twice - Real(1)) * f.returning()) / twice;
    }
};

}  // namespace lbm::boundary
