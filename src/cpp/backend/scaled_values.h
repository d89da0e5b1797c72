// Values of walls, inlets and outlets that are a fixed part times a factor of the step: how one is computed, on the
// host or by a kernel.
#pragma once

#include "../lattice/boundary/all.h"
#include "link_data.h"

namespace lbm::backend {

/// Sets the value of a wall link as the boundary-and-halo plan does for a velocity or a number `part * factor`.
template <class S>
LBM_HD void scale_link(const ScaledLink& scaled, double factor, WallLink& link) {
    boundary::Wall wall{{}, scaled.reference_density, scaled.inertia};
    for (int d = 0; d < 3; ++d) {
        wall.value[d] = scaled.part[d] * factor;
    }
    for_types(boundary::Conditions{}, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        if constexpr (boundary::has_formula<Condition>) {
            if (link.condition == position_in<boundary::Conditions, Condition>) {
                link.value = Condition::template link_value<S>(wall, scaled.off_wall);
            }
        }
    });
}

/// The same of a boundary cell.
LBM_HD void scale_cell(const ScaledCell& scaled, double factor, BoundaryCell& cell) {
    for (int d = 0; d < 3; ++d) {
        cell.value[d] = scaled.part[d] * factor;
    }
}

}  // namespace lbm::backend
