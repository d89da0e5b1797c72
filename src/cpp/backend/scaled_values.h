// Values of walls, inlets and outlets that are a fixed part times a factor of the step: how one is computed, on the
// host or by a kernel.
#pragma once

#include "../lattice/boundary/all.h"
#include "link_data.h"

namespace lbm::backend {

/// Sets the components of a vector for the factors of a step.
LBM_HD void scale(const ScaledVector& scaled, const double* factors, double (&value)[3]) {
    for (int d = 0; d < scaled.components; ++d) {
        value[d] = scaled.part[d] * factors[scaled.series + d * scaled.stride];
    }
}

/// Sets the value of a wall link as the boundary-and-halo plan does for the same velocity or number.
template <class S>
LBM_HD void scale_link(const ScaledLink& scaled, const double* factors, WallLink& link) {
    boundary::Wall wall{{}, scaled.reference_density, scaled.inertia};
    scale(scaled.value, factors, wall.value);
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
LBM_HD void scale_cell(const ScaledCell& scaled, const double* factors, BoundaryCell& cell) {
    scale(scaled.value, factors, cell.value);
}

}  // namespace lbm::backend
