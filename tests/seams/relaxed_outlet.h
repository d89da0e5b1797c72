// A boundary condition for testing the extension point for boundary cells: an outlet whose density and normal velocity
// follow the fluid with a delay. It is no physical model.
#pragma once

#include "condition.h"

namespace lbm::boundary {

struct RelaxedOutlet {
    static constexpr const char* name = "relaxed-outlet";
    static constexpr int precedence = 15;
    static constexpr Value value = Value::Number;  // the density
    static constexpr Beyond beyond = Beyond::Cell;
    static constexpr double preset = 1;
    static constexpr int stored = 2;  // the density's deviation from 1, and the velocity inwards
    static constexpr int cells_read = 3;

    template <class S, class Cell, class Real>
    LBM_HD static void start(const Cell& cell, Real (&stored)[2]) {
        stored[0] = cell.moments(0).density - Real(1);
        stored[1] = Real(cell.inward()) * cell.moments(0).velocity[cell.axis()];
    }

    template <class S, class Cell, class Real>
    LBM_HD static void complete(const Cell& cell, Real (&stored)[2], Real (&incoming)[S::Q]) {
        const Real inside =
            Real(0.25) * (Real(2) * cell.moments(0).density + cell.moments(1).density + cell.moments(2).density);
        Real neighbors = 0;
        for (int axis = 0; axis < S::D; ++axis) {
            if (axis != cell.axis()) {
                neighbors = neighbors + (cell.stored(0, axis, 0) + cell.stored(0, axis, 1));
            }
        }
        stored[0] = Real(0.5) * cell.stored(0) + Real(0.2) * (inside - Real(1)) + Real(0.1 / (S::D - 1)) * neighbors +
                    Real(0.1) * (cell.value(0) - cell.reference_density());
        Real u[3] = {cell.moments(0).velocity[0], cell.moments(0).velocity[1], cell.moments(0).velocity[2]};
        stored[1] = Real(0.5) * cell.stored(1) + Real(0.5 * cell.inward()) * u[cell.axis()];
        u[cell.axis()] = Real(cell.inward()) * stored[1];
        const Real density = Real(1) + stored[0];
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            constexpr int opposite = Stencil<S>::opposite(i);
            Real cu = 0;
            for (int d = 0; d < S::D; ++d) {
                cu += Real(Stencil<S>::component(i, d)) * u[d];
            }
            const Real departed = cell.post_collision(opposite);
            const Real streamed = cell.comes_in(opposite) ? departed : cell.streamed(opposite);
            incoming[i] = departed + Real(0.05) * (streamed - departed) +
                          Real(Stencil<S>::w(i)) * (Real(3) * (density * cu) - Real(0.1) * stored[0]);
        });
    }
};

}  // namespace lbm::boundary
