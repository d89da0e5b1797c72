// Velocity inlet by bounce-back of the non-equilibrium part: prescribes the velocity of the cells at a face.
#pragma once

#include "open_face.h"

namespace lbm::boundary {

/// The velocity holds in the centre of the cell, and its density follows from the populations that have streamed in
/// (Zou & He, Phys. Fluids 9 (1997) 1591, without their correction of the tangential momentum).
struct NonequilibriumInlet {
    static constexpr const char* name = "nonequilibrium-inlet";
    static constexpr int precedence = 22;
    static constexpr Value value = Value::Velocity;
    static constexpr Beyond beyond = Beyond::Extrapolated;
    static constexpr int stored = 0;
    static constexpr int cells_read = 0;

    template <class S, class Cell, class Real>
    LBM_HD static void start(const Cell&, Real (&)[1]) {}

    template <class S, class Cell, class Real>
    LBM_HD static void complete(const Cell& cell, Real (&)[1], Real (&incoming)[S::Q]) {
        const Real velocity[3] = {cell.value(0), cell.value(1), cell.value(2)};
        const Real outward = Real(-cell.inward()) * velocity[cell.axis()];
        Real known[S::Q];
        read_known<S>(cell, known);
        const Real deviation = density_deviation(outward, outgoing_sum<S>(cell, known), cell.compressibility());
        bounce_back_nonequilibrium<S>(cell, known, deviation, velocity, incoming);
    }
};

}  // namespace lbm::boundary
