// The state of a cell as moments. After a regularised collision the populations of a cell follow from 1 + D + D (D + 1)
// / 2 numbers: the density's deviation from 1, the momentum, which includes the whole force of the step, and
// the second-order moments without their isotropic part, A_ab = sum (c_a c_b - cs2 delta_ab) f*. So a cell keeps these
// 6 or 10 numbers in place of Q populations.
//
// After the regularised collision f*_i = w_i (rho - 1 + 3 c . j + 9/2 (c c - 1/3) : A) with
// A = rho u u + (u F + F u) / 2 + (1 - omega) Pi, Pi being the stress of the non-equilibrium part; after the recursive
// one all higher moments follow from these and u = (j - F / 2) / rho (comoving_frame.h).
//
// The populations of a cell sum to its mass and its momentum but for the rounding of the sums: the one at rest and
// those along the axes are what all others leave of them. Otherwise weights, rounded to the arithmetic type, would let
// both drift at every step in the same direction.
#pragma once

#include "comoving_frame.h"
#include "moment_orders.h"

namespace lbm {

/// Numbers that a cell keeps.
template <class S>
constexpr int moment_count = 1 + S::D + symmetric_count<S::D>;

/// The moments that a cell keeps, in the order in which they are stored.
template <class S, class V>
struct StoredMoments {
    V density_deviation;              // rho - 1
    V momentum[S::D];                 // j = sum c f*
    V second[symmetric_count<S::D>];  // A_ab with a <= b (symmetric_place)

    /// Calls visit.operator()<k>(number k).
    template <class Visit>
    LBM_HD void for_each(Visit&& visit) {
        visit.template operator()<0>(density_deviation);
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { visit.template operator()<1 + d>(momentum[d]); });
        static_for<symmetric_count<S::D>>(
            [&]<int k>() LBM_INLINE_LAMBDA { visit.template operator()<1 + S::D + k>(second[k]); });
    }
};

/// The force on a cell in a step; `is_any` says whether there is one, and otherwise `of` is zero.
template <class S, class V>
struct CellForce {
    V of[S::D];
    bool is_any;
};

/// The populations with these moments and none of higher order (Latt & Chopard, Math. Comput. Simul. 72 (2006) 165,
/// eq. 14, with the equilibrium of second order).
template <class S, class V>
LBM_HD void populations_of_second_order(const StoredMoments<S, V>& m, V (&h)[S::Q]) {
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    constexpr bool cornered = P::corners > 0;
    static_assert(P::edges > 0 && detail::cubic_pairs_are_sound<S>());
    const auto second = [&]<int a, int b>() LBM_INLINE_LAMBDA { return m.second[symmetric_place<S::D>(a, b)]; };
    V trace = second.template operator()<0, 0>();
    static_for<S::D - 1>([&]<int d>()
                             LBM_INLINE_LAMBDA { trace = trace + second.template operator()<d + 1, d + 1>(); });
    const V isotropic = m.density_deviation - R(1.5) * trace;

    // By shells: w (rho - 1 - 3/2 tr A), 9/2 w A_aa, and 3 w j.
    V base[shells], square[shells][S::D], flux[shells][S::D];
    static_for<shells>([&]<int s>() LBM_INLINE_LAMBDA {
        if constexpr (s > 0 && S::shell_weight[s] > 0) {
            base[s] = R(S::shell_weight[s]) * isotropic;
            static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
                square[s][d] = R(4.5 * S::shell_weight[s]) * second.template operator()<d, d>();
                if constexpr (s > 1) {
                    flux[s][d] = R(3 * S::shell_weight[s]) * m.momentum[d];
                }
            });
        }
    });
    const auto set = [&]<int p>(V even, V odd) LBM_INLINE_LAMBDA {
        h[2 * p + 1] = even + odd;
        h[2 * p + 2] = even - odd;
    };
    V axes = V{}, planes = V{};
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        const V even = base[1] + square[1][d];
        axes = d == 0 ? even : axes + even;
        constexpr int edges = S::D == 3 ? 4 : 2;  // pairs along an axis, as many corners
        V odd = plus_multiple<-edges>(R(0.5) * m.momentum[d], flux[2][d]);
        if constexpr (cornered) {
            odd = plus_multiple<-4>(odd, flux[3][d]);
        }
        set.template operator()<d>(even, odd);
    });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
        const V even = base[2] + (square[2][a] + square[2][b]);
        const V shear = R(9 * S::shell_weight[2]) * second.template operator()<a, b>();
        planes = q == 0 ? even : planes + even;
        set.template operator()<P::edge(q, 0)>(even + shear, flux[2][a] + flux[2][b]);
        set.template operator()<P::edge(q, 1)>(even - shear, flux[2][a] - flux[2][b]);
    });
    V others = plus_multiple<2>(axes, planes);
    if constexpr (cornered) {
        const V even = base[3] + (square[3][0] + square[3][1] + square[3][2]);
        others = plus_multiple<4>(others, even);
        V shear[P::planes];
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            shear[q] = R(9 * S::shell_weight[3]) * second.template operator()<P::axis(q, 0), P::axis(q, 1)>();
        });
        const SignedSums evens(even, shear[0], shear[1], shear[2]);
        const SignedSums odds(V{}, flux[3][0], flux[3][1], flux[3][2]);
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            constexpr auto c = [](int plane) { return P::c(p, P::axis(plane, 0)) * P::c(p, P::axis(plane, 1)); };
            set.template operator()<p>(evens.template of<1, c(0), c(1), c(2)>(),
                                       odds.template of<1, P::c(p, 0), P::c(p, 1), P::c(p, 2)>());
        });
    }
    h[0] = plus_multiple<-2>(m.density_deviation, others);
}

/// The populations whose moments of third and higher order vanish in the frame that moves with the fluid.
template <class S, bool forced, class V>
LBM_HD void populations_of_all_orders(const StoredMoments<S, V>& stored, const V (&force)[S::D],
                                      Scalar<V> compressibility, V (&h)[S::Q]) {
    using F = ComovingFrame<S>;
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    Moments<S, V> m;
    m.unit = R(1);
    m.density_deviation = stored.density_deviation;
    m.density = inertia_of_deviation(m.density_deviation, compressibility);
    const V inverse = reciprocal(m.density);
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        m.momentum[d] = stored.momentum[d];
        if constexpr (forced) {
            m.momentum[d] = m.momentum[d] - R(0.5) * force[d];
        }
        m.velocity[d] = m.momentum[d] * inverse;
        m.force[d] = stored.momentum[d];  // what the populations carry in all, of which set_populations knows none
    });
    const auto relaxed = [&]<int a, int b>() LBM_INLINE_LAMBDA {
        V known = m.momentum[a] * m.velocity[b];
        if constexpr (forced) {
            known = known + R(0.5) * (m.velocity[a] * force[b] + m.velocity[b] * force[a]);
        }
        return stored.second[symmetric_place<S::D>(a, b)] - known;
    };
    V moment[F::places];  // as to_frame_at_rest has them
    moment[0] = m.density_deviation;
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        moment[2 * F::step(d)] = R(0.5) * relaxed.template operator()<d, d>();
        if constexpr (forced) {
            moment[F::step(d)] = R(0.25) * force[d];
        }
    });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
        moment[F::step(a) + F::step(b)] = R(0.25) * relaxed.template operator()<a, b>();
    });
    to_frame_at_rest<S, 2, forced>(moment, m);
    end_at_third_order<S>(moment, m);
    PairSums<S, V> none{};
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { h[i] = V{}; });
    set_populations<S, true>(moment, none, m, h);
}

/// The post-collision populations of a cell after a step of the collision. Of those of the force only
/// collisions of all orders take note, whose velocity is (j - F / 2) / rho.
template <class S, class Collision, class V>
LBM_HD void populations_of(const StoredMoments<S, V>& m, const CellForce<S, V>& force, Scalar<V> compressibility,
                           V (&h)[S::Q]) {
    if constexpr (Collision::moment_orders == MomentOrders::Second) {
        populations_of_second_order<S>(m, h);
    } else if (force.is_any) {
        populations_of_all_orders<S, true>(m, force.of, compressibility, h);
    } else {
        populations_of_all_orders<S, false>(m, force.of, compressibility, h);
    }
}

/// The moments of populations. Of those that no such collision has made only these are kept.
template <class S, class V>
LBM_HD StoredMoments<S, V> projected(const V (&h)[S::Q]) {
    using R = Scalar<V>;
    const LowMoments<S, V> low = low_moments<S>(pair_sums<S>(h));
    StoredMoments<S, V> m;
    m.density_deviation = h[0] + low.zeroth;
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        m.momentum[a] = low.first[a];
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a < b) {
                m.second[symmetric_place<S::D>(a, b)] = low.second[a][b];
            } else if constexpr (a == b) {
                m.second[symmetric_place<S::D>(a, a)] = low.second[a][a] - R(1.0 / 3) * m.density_deviation;
            }
        });
    });
    return m;
}

}  // namespace lbm
