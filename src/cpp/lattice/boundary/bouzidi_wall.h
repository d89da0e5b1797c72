// A wall of a body at a given distance, by linear interpolation between post-collision populations.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// Bouzidi, Firdaouss & Lallemand, Phys. Fluids 13 (2001) 3452: what hits the wall is interpolated before
/// it leaves where the wall is near, what comes back after that where it is far. q = 1/2 is half-way bounce-back.
struct BouzidiWall {
    static constexpr const char* name = "bouzidi-wall";
    static constexpr bool of_bodies = true;
    static constexpr int precedence = 40;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Wall;
    static constexpr bool needs_moments = false;
    static constexpr bool needs_streamed = true;

    template <class S>
    static double link_value(const Wall& wall, int i) {
        return wall_momentum_at_unit_density<S>(wall, i) * wall.inertia;
    }

    template <class S, class Real, class Populations>
    LBM_HD static Real incoming(const Link<Real>& link, const CellMoments<Real>&, const Populations& f) {
        return interpolated(link, f.outgoing(), f.returning(), f.streamed());
    }

    template <class Real>
    LBM_HD static Real interpolated(const Link<Real>& link, Real outgoing, Real returning, Real streamed) {
        const Real twice_q = Real(2) * link.distance;
        return twice_q < Real(1) ? bounced_back(twice_q * outgoing + (Real(1) - twice_q) * streamed, link.value)
                                 : bounced_back(outgoing + (twice_q - Real(1)) * returning, link.value) / twice_q;
    }
};

}  // namespace lbm::boundary
