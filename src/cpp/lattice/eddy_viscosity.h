// The relaxation rate of the stress where an eddy viscosity is added to that of the fluid: one that the collision
// computes from the stress (Smagorinsky), or one that is known of the cell before (the models of velocity gradients).
// And the strain rate, for the collisions that take that of velocity gradients, which is known in the same way.
#pragma once

#include "moments.h"
#include "turbulence/gradient_terms.h"
#include "turbulence/smagorinsky.h"

namespace lbm {

/// Parameters of a collision in a cell, or a pack of cells, which may have a relaxation rate of its own.
template <class Parameters, class V>
struct InCell : Parameters {
    V cell_omega;         // relaxation rate of the stress
    bool has_cell_omega;  // whether it holds instead of that of the fluid
};

/// The same of a collision that takes the strain rate of velocity gradients.
template <class Parameters, class V, int D>
struct InStrainedCell : InCell<Parameters, V> {
    V strain[symmetric_count<D>];  // elements with a <= b
    bool has_strain;               // whether the collision takes it
};

/// Whether a collision may take the strain rate of velocity gradients.
template <class Parameters>
constexpr bool may_take_strain = requires {
    Parameters::may_take_strain;
};

/// Whether a type of cells may know an eddy viscosity.
template <class Cell>
constexpr bool knows_eddy_viscosity = requires(const Cell& cell, typename Cell::Value& viscosity) {
    cell.eddy_viscosity(viscosity);
};

/// The parameters in a cell that knows its eddy viscosity: cell.eddy_viscosity(nu) sets nu, or returns false for none,
/// and cell.strain(S) the elements of the strain rate.
template <int D, class Cell, class Parameters>
LBM_HD auto parameters_in(const Cell& cell, const Parameters& parameters) {
    using V = typename Cell::Value;
    using Real = Scalar<V>;
    InCell<Parameters, V> own{parameters, V{}, false};
    V viscosity{};
    own.has_cell_omega = cell.eddy_viscosity(viscosity);
    if (own.has_cell_omega) {
        own.cell_omega = Real(1) / (Real(1) / parameters.omega + Real(3) * viscosity);
    }
    if constexpr (may_take_strain<Parameters>) {
        InStrainedCell<Parameters, V, D> strained{own, {}, false};
        strained.has_strain = cell.strain(strained.strain);
        return strained;
    } else {
        return own;
    }
}

/// Whether the relaxation rate of the stress may differ from `parameters.omega`.
template <class Parameters>
LBM_HD bool rate_varies(const Parameters& parameters) {
    if constexpr (requires { parameters.has_cell_omega; }) {
        return parameters.has_cell_omega || parameters.smagorinsky_factor > 0;
    } else {
        return parameters.smagorinsky_factor > 0;
    }
}

/// The relaxation rate of the stress. `norm2()` returns the square of the non-equilibrium stress, in units of `unit`.
template <class V, class Parameters, class Norm2>
LBM_HD V stress_relaxation_rate(const Parameters& parameters, V density, Scalar<V> unit, const Norm2& norm2) {
    V omega = V{} + parameters.omega;
    if constexpr (requires { parameters.has_cell_omega; }) {
        if (parameters.has_cell_omega) {
            omega = parameters.cell_omega;
        }
    }
    if (parameters.smagorinsky_factor > 0) {
        omega = smagorinsky_relaxation_rate(norm2(), density, parameters.omega, parameters.smagorinsky_factor * unit);
    }
    return omega;
}

/// Pi_ab Pi_ab of the stress Pi_ab = sum c_a c_b n of the non-equilibrium part n.
template <class S, class V>
LBM_HD V stress_norm2(const PairSums<S, V>& n) {
    V norm2 = V{};
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a <= b) {
                V stress = V{};
                static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
                    accumulate<S::c[2 * p + 1][a] * S::c[2 * p + 1][b]>(stress, n.even[p]);
                });
                constexpr int appearances = a < b ? 2 : 1;  // of a b in the full tensor
                norm2 = norm2 + scaled<appearances>(stress * stress);
            }
        });
    });
    return norm2;
}

/// The same of the stress itself, of which the elements with a <= b are given.
template <int D, class V>
LBM_HD V tensor_norm2(const V (&stress)[D][D]) {
    V norm2 = V{};
    static_for<D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a <= b) {
                norm2 = norm2 + scaled<(a < b ? 2 : 1)>(stress[a][b] * stress[a][b]);
            }
        });
    });
    return norm2;
}

}  // namespace lbm
