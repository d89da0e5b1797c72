// Eddy viscosities between two steps, cell by cell: those of velocity gradients of cells next to walls and bodies, with
// the strain rate, and those of the local stress.
#pragma once

#include "../lattice/collide.h"
#include "../lattice/turbulence/gradient.h"
#include "lattice_view.h"
#include "link_data.h"

namespace lbm::backend {

/// Computes the Terms (GradientTerms) of the gradient of the velocities that the last step has kept. Beyond a wall is
/// the velocity that its link says.
template <class Terms, class S, class Real, class Stored>
LBM_FLATTEN LBM_HD void gradient_terms_of_cell(const LatticeView<S, Real, Stored>& lattice, const VelocityRows& rows,
                                               const VelocityCell& cell, const VelocityLink* links, Real factor,
                                               Real (&terms)[Terms::template count<S::D>]) {
    const auto at = [&](int d, int x, int y, int z) {
        return from_storage<Real>(lattice.data[rows.offset(lattice.address, lattice.phase, d, x, y, z)]);
    };
    VelocityGradient<Real, S::D> gradient;
    int next = cell.first;
    for (int axis = 0; axis < S::D; ++axis) {
        Real around[2][S::D];
        bool is_extrapolated[2] = {false, false};
        for (int side = 0; side < 2; ++side) {
            const bool is_wall = next < cell.first + cell.count && links[next].direction == 2 * axis + side;
            const int to = 2 * side - 1;
            for (int d = 0; d < S::D; ++d) {
                around[side][d] =
                    is_wall ? Real(links[next].sign[d]) * at(d, cell.x, cell.y, cell.z) + Real(links[next].value[d])
                            : at(d, cell.x + (axis == 0 ? to : 0), cell.y + (axis == 1 ? to : 0),
                                 cell.z + (axis == 2 ? to : 0));
            }
            is_extrapolated[side] = is_wall && links[next].is_extrapolated;
            next += is_wall ? 1 : 0;
        }
        for (int side = 0; side < 2; ++side) {
            if (is_extrapolated[side] && !is_extrapolated[1 - side]) {  // from both sides it stays that of the cell
                for (int d = 0; d < S::D; ++d) {
                    around[side][d] = Real(2) * at(d, cell.x, cell.y, cell.z) - around[1 - side][d];
                }
            }
        }
        for (int d = 0; d < S::D; ++d) {
            gradient.of[d][axis] = central_difference(around[1][d], around[0][d]);
        }
    }
    Terms::compute(gradient, factor, terms);
}

/// The eddy viscosity of the Smagorinsky model in the next step of a cell, once boundaries and halos have been applied.
template <class S, class Real, class Stored, class Coupling>
LBM_HD Real smagorinsky_eddy_viscosity(const CellView<S, Real, Stored>& cell, const double (&force)[3],
                                       const Coupling& coupling, Real omega, Real factor) {
    Real h[S::Q], own_force[S::D];
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { h[i] = cell.post_streaming(i); });
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { own_force[d] = Real(force[d]); });
    PairSums<S, Real> n = pair_sums<S>(h);
    const Moments<S, Real> m = compute_moments<S>(h[0], n, own_force, true, Real(1), cell.compressibility);
    const EquilibriumTerms<S, Real> terms = equilibrium_terms(m);
    static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
        n.even[p] = n.even[p] - even_equilibrium<S, p>(terms, odd_equilibrium<S, p>(terms));
        coupling.template apply<p>(n.even[p]);
        n.even[p] = n.even[p] + even_source<S, p>(m, terms);
    });
    const Real rate = smagorinsky_relaxation_rate(stress_norm2<S>(n), m.density, omega, factor);
    return (Real(1) / rate - Real(1) / omega) * Real(1.0 / 3);
}

}  // namespace lbm::backend
