// Outflow by the populations of the own cell alone.
#pragma once

#include "outflow.h"

namespace lbm::boundary {

/// The incoming population is the post-collision one of the same velocity in the cell itself, as if the cell behind the
/// face had the same populations: a zero gradient along the link. It has the weak relaxation of the density that
/// Outflow has, and reads no other cell.
struct LocalOutflow {
    static constexpr const char* name = "local-outflow";
    static constexpr int precedence = 5;
    static constexpr Value value = Value::None;
    static constexpr Beyond beyond = Beyond::Cell;
    static constexpr bool needs_moments = true;

    template <class S>
    static double link_value(const Wall& wall, int i) {
        return Outflow::link_value<S>(wall, i);
    }

    template <class S, class Real, class Populations>
    LBM_HD static Real incoming(const Link<Real>& link, const CellMoments<Real>& cell, const Populations& f) {
        return Outflow::relaxed<S>(f.returning(), link, cell);
    }
};

}  // namespace lbm::boundary
