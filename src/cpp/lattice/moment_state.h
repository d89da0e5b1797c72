// The state of a cell as moments. After a regularised collision the populations of a cell follow from 1 + D + D (D + 1)
// / 2 numbers: the density's deviation from 1, the momentum, which includes the whole force of the step, and
// the second-order moments without their isotropic part, A_ab = sum (c_a c_b - cs2 delta_ab) f*. So a cell keeps these
// 6 or 10 numbers in place of Q populations.
//
// After the regularised collision f*_i = w_i (rho - 1 + 3 c . j + 9/2 (c c - 1/3) : A) with
// A = rho u u + (u F + F u) / 2 + (1 - omega) Pi, Pi being the stress of the non-equilibrium part; after the recursive
// one all higher moments follow from these and u = (j - F / 2) / rho (all_order_populations.h). The weights w_i are
// powers of two times the smallest of them, so that A is kept in the unit of its terms in those populations, and a
// population has few products to compute.
//
// The populations of a cell sum to its mass and its momentum but for the rounding of the sums: the one at rest and
// those along the axes are what all others leave of them. Otherwise weights, rounded to the arithmetic type, would let
// both drift at every step in the same direction.
#pragma once

#include "all_order_populations.h"
#include "moment_orders.h"

namespace lbm {

/// The smallest weight of a stencil, and the power of two by which that of a shell is larger.
template <class S>
constexpr double least_weight = S::shell_weight[3] > 0 ? S::shell_weight[3] : S::shell_weight[2];
template <class S, int shell>
constexpr int weight_ratio = int(S::shell_weight[shell] / least_weight<S> + 0.5);

/// The unit of the second-order moments that a cell keeps: what A_aa, or A_ab twice, contributes to a population of the
/// smallest weight.
template <class S, bool diagonal>
constexpr double second_unit = (diagonal ? 4.5 : 9) * least_weight<S>;

/// What all moving populations have of the isotropic term and of the trace of A, in the smallest weight.
template <class S>
constexpr int others = [] {
    int sum = 0;
    for (int i = 1; i < S::Q; ++i) {
        sum += int(Stencil<S>::w(i) / least_weight<S> + 0.5);
    }
    return sum;
}();
template <class S>
constexpr int others_of_trace = [] {
    int sum = 0;
    for (int i = 1; i < S::Q; ++i) {
        sum += S::c[i][0] * S::c[i][0] * int(Stencil<S>::w(i) / least_weight<S> + 0.5);
    }
    return sum;
}();

/// The moments that a cell keeps, in the order in which they are stored.
template <class S, class V>
struct StoredMoments {
    V density_deviation;              // rho - 1
    V momentum[S::D];                 // j = sum c f*
    V second[symmetric_count<S::D>];  // second_unit<S, a == b> A_ab with a <= b (symmetric_place)

    /// Calls visit.operator()<k>(number k).
    template <class Visit>
    LBM_HD void for_each(Visit&& visit) {
        visit.template operator()<0>(density_deviation);
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { visit.template operator()<1 + d>(momentum[d]); });
        static_for<symmetric_count<S::D>>(
            [&]<int k>() LBM_INLINE_LAMBDA { visit.template operator()<1 + S::D + k>(second[k]); });
    }
};

/// Turns the moments of a cell into those of its mirror image across a face normal to `axis`, to the bit: so are its
/// populations, and what follows from the images of all cells around it.
template <int axis, class S, class V>
LBM_HD void mirror(StoredMoments<S, V>& m) {
    m.momentum[axis] = -m.momentum[axis];
    static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
        if constexpr (b != axis) {
            V& second = m.second[symmetric_place<S::D>(axis < b ? axis : b, axis < b ? b : axis)];
            second = -second;
        }
    });
}

template <class S, int axis, class V>
LBM_HD void mirror_populations(V (&h)[S::Q]) {
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int image = Stencil<S>::mirror(i, axis);
        if constexpr (i < image) {
            const V own = h[i];
            h[i] = h[image];
            h[image] = own;
        }
    });
}

/// The cell before faces with free slip of which one at `at` is the image, along an axis of n cells that have so many
/// cells behind each end before such a face; `odd` says whether it is reflected an odd number of times.
struct CellImage {
    int at;
    bool odd;
};
LBM_HD CellImage image_of(int at, int n, int before, int behind) {
    bool odd = false;
    while (-1 - at >= before || at - n >= behind) {
        at = -1 - at >= before ? -1 - at - 2 * before : 2 * (n + behind) - 1 - at;
        odd = !odd;
    }
    return {at, odd};
}

/// The force on a cell in a step; `is_any` says whether there is one, and otherwise `of` is zero.
template <class S, class V>
struct CellForce {
    V of[S::D];
    bool is_any;
};

/// The populations with these moments and none of higher order (Latt & Chopard, Math. Comput. Simul. 72 (2006) 165,
/// eq. 14, with the equilibrium of second order).
template <class S, class V, class Populations>
LBM_HD void populations_of_second_order(const StoredMoments<S, V>& m, Populations& h) {
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    constexpr bool cornered = P::corners > 0;
    constexpr int axis_ratio = weight_ratio<S, 1>, edge_ratio = weight_ratio<S, 2>;
    static_assert(P::edges > 0 && detail::cubic_pairs_are_sound<S>());
    const auto second = [&]<int a, int b>() LBM_INLINE_LAMBDA { return m.second[symmetric_place<S::D>(a, b)]; };
    V trace = second.template operator()<0, 0>();
    static_for<S::D - 1>([&]<int d>()
                             LBM_INLINE_LAMBDA { trace = trace + second.template operator()<d + 1, d + 1>(); });
    // All terms are those of populations of the smallest weight. Of j the negative of four times its term, which leaves
    // along an axis what edges and corners do not have.
    const V isotropic = R(least_weight<S>) * m.density_deviation - R(1.0 / 3) * trace;
    V even[S::D], flux[S::D];
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        even[d] = isotropic + second.template operator()<d, d>();
        flux[d] = R(-12 * least_weight<S>) * m.momentum[d];
    });
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        constexpr int edges = S::D == 3 ? 4 : 2;  // pairs along an axis, as many corners
        V odd;
        if constexpr (edges * edge_ratio == 2) {
            odd = plus_fraction<2>(R(0.5) * m.momentum[d], flux[d]);
        } else if constexpr (cornered) {
            odd = plus_fraction<2>(plus_multiple<edge_ratio>(flux[d], flux[d]), m.momentum[d]);
        } else {
            odd = plus_fraction<2>(flux[d], m.momentum[d]);
        }
        h[2 * d + 1] = plus_multiple<axis_ratio>(odd, even[d]);
        h[2 * d + 2] = plus_multiple<axis_ratio>(-odd, even[d]);
    });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
        const V both = even[a] + second.template operator()<b, b>();
        const V shear = second.template operator()<a, b>();
        const auto set = [&]<int p>(V unit, V odd) LBM_INLINE_LAMBDA {
            if constexpr (edge_ratio == 1) {
                h[2 * p + 1] = plus_fraction<-4>(unit, odd);
                h[2 * p + 2] = plus_fraction<4>(unit, odd);
            } else {
                h[2 * p + 1] = plus_multiple<edge_ratio>(-odd, unit);
                h[2 * p + 2] = plus_multiple<edge_ratio>(odd, unit);
            }
        };
        static_assert(edge_ratio == 1 || edge_ratio == 4);
        set.template operator()<P::edge(q, 0)>(both + shear, flux[a] + flux[b]);
        set.template operator()<P::edge(q, 1)>(both - shear, flux[a] - flux[b]);
    });
    if constexpr (cornered) {
        const V all = isotropic + trace;
        V shear[P::planes];
        static_for<P::planes>(
            [&]<int q>() LBM_INLINE_LAMBDA { shear[q] = second.template operator()<P::axis(q, 0), P::axis(q, 1)>(); });
        const SignedSums evens(all, shear[0], shear[1], shear[2]);
        const SignedSums odds(V{}, flux[0], flux[1], flux[2]);
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            constexpr auto c = [](int plane) { return P::c(p, P::axis(plane, 0)) * P::c(p, P::axis(plane, 1)); };
            const V unit = evens.template of<1, c(0), c(1), c(2)>();
            const V odd = odds.template of<1, P::c(p, 0), P::c(p, 1), P::c(p, 2)>();
            h[2 * p + 1] = plus_fraction<-4>(unit, odd);
            h[2 * p + 2] = plus_fraction<4>(unit, odd);
        });
    }
    // The others have others_of_trace times this, and the isotropic term a few times more.
    constexpr int ratio = others<S> / others_of_trace<S>, left = others<S> % others_of_trace<S>;
    static_assert(ratio == 1 || ratio == 2);
    const V common = ratio == 1 ? isotropic + trace : plus_multiple<2>(trace, isotropic);
    V at_rest = plus_multiples<-others_of_trace<S>>(m.density_deviation, common);
    if constexpr (left > 0) {
        at_rest = plus_multiples<-left>(at_rest, isotropic);
    }
    h[0] = at_rest;
}

/// The populations whose moments of third and higher order vanish in the frame that moves with the fluid.
template <class S, bool forced, class V, class Populations>
LBM_HD void populations_of_all_orders(const StoredMoments<S, V>& stored, const V (&force)[S::D],
                                      Scalar<V> compressibility, Populations& h) {
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    using State = SecondOrderState<S, V>;
    State m;
    m.density_deviation = stored.density_deviation;
    m.density = inertia_of_deviation(m.density_deviation, compressibility);
    const V inverse = reciprocal(m.density);
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        m.momentum[d] = m.flow_momentum[d] = stored.momentum[d];
        if constexpr (forced) {
            m.flow_momentum[d] = m.momentum[d] - R(0.5) * force[d];
            m.quarter_force[d] = R(0.25) * force[d];
        }
        m.velocity[d] = m.flow_momentum[d] * inverse;
        constexpr R factor = R(1 / (8 * second_unit<S, true>));
        m.diagonal[d] = stored.second[symmetric_place<S::D>(d, d)];
        if constexpr (factor != 1) {
            m.diagonal[d] = factor * m.diagonal[d];
        }
    });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr R factor = R(1 / (State::shear_divisor * second_unit<S, false>));
        m.shear[q] = stored.second[symmetric_place<S::D>(P::axis(q, 0), P::axis(q, 1))];
        if constexpr (factor != 1) {
            m.shear[q] = factor * m.shear[q];
        }
    });
    populations_with<S>(raw_moments<S, forced>(m), m.density_deviation, m.momentum, h);
}

/// The post-collision populations of a cell after a step of the collision. Of those of the force only
/// collisions of all orders take note, whose velocity is (j - F / 2) / rho. Each is assigned to h[i] once, and not
/// read, so that h may be a place in memory.
template <class S, class Collision, class V, class Populations>
LBM_HD void populations_of(const StoredMoments<S, V>& m, const CellForce<S, V>& force, Scalar<V> compressibility,
                           Populations& h) {
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
                m.second[symmetric_place<S::D>(a, b)] = R(second_unit<S, false>) * low.second[a][b];
            } else if constexpr (a == b) {
                m.second[symmetric_place<S::D>(a, a)] =
                    R(second_unit<S, true>) * (low.second[a][a] - R(1.0 / 3) * m.density_deviation);
            }
        });
    });
    return m;
}

}  // namespace lbm
