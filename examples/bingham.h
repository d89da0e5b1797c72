// A Bingham fluid, which flows where the stress is above a yield stress and is nearly solid elsewhere: regularised as
// nu(g) = nu + yield / (g + rate) with the shear rate g = sqrt(2 D:D) (the "simple" model of Frigaard & Nouar, J.
// Non-Newton. Fluid Mech. 127 (2005) 1), and relaxed with two relaxation times, of the even and the odd parts.
//
// The shear rate comes from the stress Pi of n: g = G / tau with G = 3 |Pi| / (sqrt(2) rho). With nu = (tau - 1/2) / 3
// the law above is a quadratic equation for tau in each cell,
//     rate tau^2 - b tau - tau_0 G = 0,   b = rate tau_0 + 3 yield - G,
// of whose positive root 2 rate tau = b + sqrt(b^2 + 4 rate tau_0 G) no digits are lost in the form below. In float32
// b^2 is flushed to 0 below b = 1e-19, and the root is then 0 / 0: keep the shear rate of the parameters above 1e-18.
#pragma once

#include "../collide.h"

namespace lbm {

struct Bingham : FlowCollision {
    static constexpr const char* name = "bingham";

    template <class Real>
    struct Parameters : Relaxation<Real> {
        Real yield;  // three times the yield stress over the density
        Real rate;   // shear rate below which the fluid is nearly solid
        Real magic;  // (tau - 1/2) (tau_odd - 1/2), which keeps walls in their places
    };

    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        return {relaxation(given), 3 * given.at_least_zero("yield_stress", 0), given.positive("shear_rate"),
                given.positive("magic", 3.0 / 16)};
    }

    /// The parameters, and what turns n of a cell into a stress over the density.
    template <class P, class V>
    struct InCell : P {
        V scale;
    };

    /// The relaxation once the cell's density is known.
    struct Relaxed {
        template <class S, class V, class P>
        LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const InCell<P, V>& p) {
            using Real = Scalar<V>;
            V norm2 = V{};  // Pi : Pi
            static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
                static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
                    if constexpr (a <= b) {
                        V stress = V{};
                        static_for<Stencil<S>::pairs>([&]<int k>() LBM_INLINE_LAMBDA {
                            accumulate<S::c[2 * k + 1][a] * S::c[2 * k + 1][b]>(stress, n.even[k]);
                        });
                        norm2 = norm2 + scaled<(a < b ? 2 : 1)>(stress * stress);
                    }
                });
            });
            const V G = Real(2.1213203435596424) * (square_root(norm2) * p.scale);
            const V tau_0 = Real(1) / omega;
            const V b = p.rate * tau_0 + p.yield - G;
            const V magnitude = square_root(b * b);  // |b|
            const V root = square_root(b * b + Real(4) * p.rate * (tau_0 * G));
            const V tau = (magnitude + b) / (Real(2) * p.rate) + Real(2) * (tau_0 * G) / (root + magnitude);

            const V even = Real(-0.5) / tau;
            const V odd = Real(-0.5) / (p.magic / (tau - Real(0.5)) + Real(0.5));
            PairChange<S, V> change;
            static_for<Stencil<S>::pairs>([&]<int k>() LBM_INLINE_LAMBDA {
                change.even[k] = even * n.even[k];
                change.odd[k] = odd * n.odd[k];
            });
            return change;
        }
    };

    template <class S, class V, class P, class Coupling>
    LBM_HD static void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                               const P& parameters, const Coupling& coupling) {
        const InCell<P, V> p{parameters, m.unit / m.density};
        collide_linearly<S, Relaxed>(h, sums, m, forced, p, coupling);
    }
};

}  // namespace lbm
