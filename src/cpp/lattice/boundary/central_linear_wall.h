// A wall of a body at a given distance, by central linear interpolation.
#pragma once

#include "condition.h"

namespace lbm::boundary {

/// The central linear interpolation (CLI) of Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427: one
/// formula for all q, whose wall lies at the same place for all viscosities of a TRT collision with the same magic
/// parameter. q = 1/2 is half-way bounce-back.
struct CentralLinearWall {
    static constexpr const char* name = "central-linear-wall";
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
        const Real change = (Real(1) - twice_q) * (streamed - returning) + Real(2) * link.value;
        return outgoing + change / (Real(1) + twice_q);
    }
};

}  // namespace lbm::boundary
