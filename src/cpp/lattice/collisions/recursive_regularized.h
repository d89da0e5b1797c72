// Recursive regularised BGK collision (Malaspinas, arXiv:1505.06900 (2015); Coreixas, Wissocq, Puigt, Boussuge &
// Sagaut, PRE 96 (2017) 033306): the non-equilibrium part is rebuilt from its stress alone, to all orders that the
// stencil resolves, before it relaxes with one rate. The recursion of its Hermite moments by the velocity, a_abc = u_a
// a_bc + u_b a_ac + u_c a_ab and so on, says that those of third and higher order vanish in the frame that moves with
// the fluid, which is how they are computed (comoving_frame.h).
//
// The hybrid form (Jacob, Malaspinas & Sagaut, J. Turbul. 19 (2018) 1051) takes a part 1 - sigma of the stress from
// finite differences of the velocity instead; all higher orders follow from the mixture. These differences are those
// that turbulence models of velocity gradients take too: of the velocities of the step before.
#pragma once

#include "../comoving_frame.h"
#include "../moment_orders.h"

namespace lbm {

struct RecursiveRegularized : FlowCollision {
    static constexpr const char* name = "recursive-regularized";
    static constexpr MomentOrders moment_orders = MomentOrders::All;
    static constexpr bool third = false;
    static constexpr bool takes_low_moments = true;
    template <class Real>
    struct Parameters : Relaxation<Real> {
        static constexpr bool may_take_strain = true;
        Real hybrid;  // sigma, the part of the stress that is the populations' own; 1 without finite differences
    };

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        return {relaxation(given), given.fraction("hybrid", 1)};
    }

    template <class S, class V, class Parameters, class Coupling>
    LBM_HD static void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                               const Parameters& parameters, const Coupling& coupling) {
        collide_in_moving_frame<S, RecursiveRegularized>(h, sums, m, forced, parameters, coupling);
    }
};

}  // namespace lbm
