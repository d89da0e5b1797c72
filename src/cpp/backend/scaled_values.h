// Values of walls, inlets and outlets that are a fixed part times a factor of the step. Whoever serves links and
// boundary cells computes them as it reads these, so that nothing that lies in memory changes from step to step.
#pragma once

#include "../lattice/boundary/all.h"
#include "link_data.h"

namespace lbm::backend {

/// A number of the plan for the factors of a step.
LBM_HD double scaled_number(const ScaledNumber& number, const ScaledTerm* terms, const double* factors) {
    double sum = number.start;
    for (int k = number.first; k < number.first + number.count; ++k) {
        const ScaledTerm& term = terms[k];
        sum += term.coefficient * (term.series < 0 ? term.part : term.part * factors[term.series] - term.offset);
    }
    return sum / number.divisor - number.less;
}

/// Values that do not change in time, in place of ScaledValues.
struct SteadyValues {
    static constexpr int together = 5;  // links of a cell that are loaded at once

    LBM_HD static void set(WallLink&) {}
    LBM_HD static void set(BoundaryCell&) {}
};

/// The values of a step.
template <class S>
struct ScaledValues {
    static constexpr int together = 3;  // a kernel for 5 takes 94 registers in place of 80 (D3Q19 in float32)

    const ScaledVector* values;  // the plan's; null: none changes in time
    const double* factors;       // of the step
    double reference_density, inertia;

    /// Sets the value of a wall link as the boundary-and-halo plan does for the same velocity or number.
    LBM_HD void set(WallLink& link) const {
        if (link.scaled < 0) {
            return;
        }
        boundary::Wall wall{{}, reference_density, inertia};
        put(values[link.scaled], wall.value);
        for_types(boundary::Conditions{}, [&](auto member) LBM_INLINE_LAMBDA {
            using Condition = typename decltype(member)::type;
            if constexpr (boundary::has_formula<Condition>) {
                if (link.condition == position_in<boundary::Conditions, Condition>) {
                    link.value = Condition::template link_value<S>(wall, link.off_wall);
                }
            }
        });
    }

    /// The wall momentum term of a cut link.
    LBM_HD double momentum(const CutLink& link) const {
        boundary::Wall wall{{}, reference_density, inertia};
        put(values[link.scaled], wall.value);
        return boundary::MovingWall::link_value<S>(wall, link.off_wall);
    }

    /// The same of a boundary cell.
    LBM_HD void set(BoundaryCell& cell) const {
        if (cell.scaled >= 0) {
            put(values[cell.scaled], cell.value);
        }
    }

private:
    LBM_HD void put(const ScaledVector& scaled, double (&value)[3]) const {
        static_for<3>([&]<int d>() LBM_INLINE_LAMBDA {
            if (d < scaled.components) {
                value[d] = scaled.part[d] * factors[scaled.series + d * scaled.stride];
            }
        });
    }
};

}  // namespace lbm::backend
