// Collisions in the Hermite moments of the frame that moves with the fluid, which central moments and recursive
// regularisation share.
//
// The moments of the frame are a_abc = sum f He_a(c_x - u_x) He_b(c_y - u_y) He_c(c_z - u_z) with He_0 = 1, He_1 = c
// and He_2 = c^2 - cs2, one for each (a, b, c) of 0 to 2 that the stencil resolves: all of them in D2Q9 and D3Q27, in
// D3Q19 those with a zero among (a, b, c). The equilibrium has the density and no other of them, which is a Maxwellian
// to all orders that the stencil resolves; in D3Q19 it ends at third order. The source S of a force F has the first
// order alone, F, so that it is the change of this equilibrium with the velocity: second-order forcing in the form of
// Guo, Zheng & Shi, PRE 65 (2002) 046308. In the collision f* = f + S - K n of collide.h the stress relaxes with omega,
// moments of third order with a rate of their own, and those of higher order with 1, so that none of these has to be
// computed before.
//
// Moments in the frame at rest follow from these exactly, as Hermite polynomials obey the binomial theorem:
// He_2(c) = He_2(c - u) + 2 u He_1(c - u) + u^2.
#pragma once

#include "collide.h"
#include "low_moments.h"

namespace lbm {

/// What is particular to a stencil in the moving frame.
template <class S>
struct ComovingFrame {
    static constexpr bool cornered = CubicPairs<S>::corners > 0;
    /// Without velocities to the corners of the cube, waves in a stream grow at low viscosities unless the trace of the
    /// stress relaxes with 1, a bulk viscosity of 1/9, and those of third order with 0.6 at least, as setups ask for.
    static constexpr bool complete = S::D == 2 || cornered;

    /// The moment (a, b, c) is kept at the place a + 3 b + 9 c.
    LBM_HD static constexpr int exponent(int k, int axis) { return axis == 0 ? k % 3 : axis == 1 ? k / 3 % 3 : k / 9; }
    static constexpr int places = S::D == 2 ? 9 : 27;
    LBM_HD static constexpr bool resolved(int k) {
        return k < places && (complete || exponent(k, 0) * exponent(k, 1) * exponent(k, 2) == 0);
    }
    LBM_HD static constexpr int step(int axis) { return axis == 0 ? 1 : axis == 1 ? 3 : 9; }
    LBM_HD static constexpr int order(int k) { return exponent(k, 0) + exponent(k, 1) + exponent(k, 2); }

    /// Whether the moment may differ from zero once the frame has been shifted along the first `shifts` axes, if those
    /// of order 2 to `highest` may in the moving frame.
    LBM_HD static constexpr bool present(int k, int shifts, int highest, bool forced) {
        if (!resolved(k)) {
            return false;
        }
        if (shifts == 0) {
            const int n = order(k);
            return n == 0 || (n == 1 && forced) || (n >= 2 && n <= highest);
        }
        const int axis = shifts - 1;
        for (int e = 0; e <= exponent(k, axis); ++e) {
            if (present(k - e * step(axis), axis, highest, forced)) {
                return true;
            }
        }
        return false;
    }
};

/// Turns moments of the moving frame into those of the frame at rest, axis by axis; all are divided by 2 for each axis
/// with an exponent above 0, as what changes populations is. a[0], the density, is left out: what it contributes to a
/// line of moments begins with the momentum.
template <class S, int highest, bool forced, class V>
LBM_HD void to_frame_at_rest(V (&a)[ComovingFrame<S>::places], const Moments<S, V>& m) {
    using F = ComovingFrame<S>;
    using R = Scalar<V>;
    static_for<S::D>([&]<int axis>() LBM_INLINE_LAMBDA {
        const V u = m.velocity[axis], half_u = R(0.5) * u;
        static_for<F::places>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int one = k + F::step(axis), two = one + F::step(axis);
            if constexpr (F::exponent(k, axis) == 0 && F::resolved(one)) {
                constexpr bool has_0 = F::present(k, axis, highest, forced);
                constexpr bool has_1 = F::present(one, axis, highest, forced);
                constexpr bool has_2 = F::present(two, axis, highest, forced);
                if constexpr (has_0) {
                    V moved = k == 0 ? R(0.5) * m.momentum[axis] : half_u * a[k];  // new first moment of the line
                    V twice = moved;
                    if constexpr (has_1) {
                        moved = a[one] + moved;
                        twice = moved + a[one];
                    }
                    const V risen = u * twice;
                    a[two] = has_2 ? a[two] + risen : risen;
                    a[one] = moved;
                } else if constexpr (has_1) {
                    const V risen = u * a[one];
                    if constexpr (has_2) {
                        a[two] = plus_multiple<2>(a[two], risen);
                    } else {
                        a[two] = scaled<2>(risen);
                    }
                }
            }
        });
    });
}

/// Ends the equilibrium of a stencil without corners at third order: in the frame at rest its moments He_2 He_2 + He_2
/// / 6 of the third axis, which are orthogonal to those of lower order here, are zero.
template <class S, class V>
LBM_HD void end_at_third_order(V (&a)[ComovingFrame<S>::places], const Moments<S, V>& m) {
    using F = ComovingFrame<S>;
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    if constexpr (!F::complete) {
        V flux[S::D];
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { flux[d] = (R(0.25) * m.momentum[d]) * m.velocity[d]; });
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int x = P::axis(q, 0), y = P::axis(q, 1), k = 2 * (F::step(x) + F::step(y));
            a[k] = a[k] - (flux[x] * (m.velocity[y] * m.velocity[y]) + R(1.0 / 6) * flux[P::normal(q)]);
        });
    }
}

/// Changes the populations to those with the given moments of the frame at rest, as to_frame_at_rest leaves them; a[0]
/// is the density's deviation from 1, and `sums` are those of the populations before.
///
/// Only those along the axes are changed; all others, and the one at rest, are made anew, so that those before need not
/// be kept. The momentum that all others lose, by the collision or by rounding, goes to those along the axes. It is
/// summed from the changes of pairs, which are small and exactly zero where nothing changes any more: changes of sums
/// would let the momentum of a stream drift.
template <class S, bool forced, class V>
LBM_HD void set_populations(const V (&a)[ComovingFrame<S>::places], const PairSums<S, V>& sums, const Moments<S, V>& m,
                            V (&h)[S::Q]) {
    using F = ComovingFrame<S>;
    using P = CubicPairs<S>;
    constexpr auto half_cs2 = Scalar<V>(1.0 / 6), half = Scalar<V>(0.5);
    PairSums<S, V> lost;
    const auto set = [&]<int p>(V even, V odd) LBM_INLINE_LAMBDA {
        lost.odd[p] = plus_multiple<-2>(sums.odd[p], odd);
        h[2 * p + 1] = even + odd;
        h[2 * p + 2] = even - odd;
    };
    V square[S::D], weighted[S::D];
    const V isotropic = half_cs2 * a[0];
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        square[d] = a[2 * F::step(d)] + isotropic;
        weighted[d] = half_cs2 * a[F::step(d)];
    });
    // Moments of even powers of two components, and of one with the square of another, of the edges in a plane alone.
    V plane[P::planes], shear[P::planes], flux[P::planes][2];
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int x = P::axis(q, 0), y = P::axis(q, 1), s = F::step(x), t = F::step(y);
        plane[q] = a[2 * s + 2 * t] + half_cs2 * (square[x] + a[2 * t]);
        shear[q] = a[s + t];
        flux[q][0] = a[s + 2 * t] + weighted[x];
        flux[q][1] = a[2 * s + t] + weighted[y];
    });
    V corner_sum = V{}, corner_flux[S::D];
    if constexpr (P::corners > 0) {
        V corner_shear[P::planes];
        corner_sum = a[26] + half_cs2 * (plane[0] + (a[20] + (a[24] + half_cs2 * a[18])));
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int st = F::step(P::axis(q, 0)) + F::step(P::axis(q, 1));
            corner_shear[q] = a[st + 2 * F::step(P::normal(q))] + half_cs2 * a[st];
        });
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            constexpr int q = d == 2 ? 1 : 0, k = d == 0 ? 0 : 1;  // a plane that contains the axis, and its place
            constexpr int s = F::step(d), t = 2 * F::step(P::axis(q, 1 - k)), r = 2 * F::step(P::normal(q));
            corner_flux[d] = a[s + t + r] + half_cs2 * (flux[q][k] + a[s + r]);
        });
        const SignedSums even(corner_sum, corner_shear[0], corner_shear[1], corner_shear[2]);
        const SignedSums odd(a[13], corner_flux[0], corner_flux[1], corner_flux[2]);
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            constexpr auto c = [](int plane) { return P::c(p, P::axis(plane, 0)) * P::c(p, P::axis(plane, 1)); };
            constexpr int x = P::c(p, 0), y = P::c(p, 1), z = P::c(p, 2);
            set.template operator()<p>(even.template of<1, c(0), c(1), c(2)>(), odd.template of<x * y * z, x, y, z>());
        });
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            plane[q] = plus_multiple<-2>(plane[q], corner_sum);
            shear[q] = plus_multiple<-2>(shear[q], corner_shear[q]);
            static_for<2>([&]<int k>() LBM_INLINE_LAMBDA {
                flux[q][k] = plus_multiple<-2>(flux[q][k], corner_flux[P::axis(q, k)]);
            });
        });
    }
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        set.template operator()<P::edge(q, 0)>(plane[q] + shear[q], flux[q][0] + flux[q][1]);
        set.template operator()<P::edge(q, 1)>(plane[q] - shear[q], flux[q][0] - flux[q][1]);
    });
    const DiagonalFlux<S, V> diagonal(lost);
    V axes = V{}, planes = total<0, P::planes>(plane);
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        constexpr int q = d == 2 ? 1 : 0;
        V even = plane[q], gained = diagonal.sum[d];  // by the pair along the axis
        if constexpr (S::D == 3) {
            even = even + plane[P::other_plane(q, d)];
        }
        if constexpr (P::corners > 0) {
            even = plus_multiple<2>(even, corner_sum);
        }
        if constexpr (forced) {
            gained = gained + m.force[d];
        }
        even = plus_multiple<-2>(square[d], even);
        axes = d == 0 ? even : axes + even;
        const V even_change = even - half * sums.even[d], odd_change = half * gained;
        h[2 * d + 1] = h[2 * d + 1] + (even_change + odd_change);
        h[2 * d + 2] = h[2 * d + 2] + (even_change - odd_change);
    });
    if constexpr (P::corners > 0) {
        planes = plus_multiple<2>(planes, corner_sum);
    }
    h[0] = plus_multiple<-2>(a[0], plus_multiple<2>(axes, planes));
}

/// Moments of n in the moving frame.
template <class S, class V>
struct MovingMoments {
    V second[S::D][S::D];  // the stress; a <= b
    V third[S::D][S::D];   // that of (c_a - u_a) (c_b - u_b)^2; a != b
    V triple;              // that of all three components
};

/// Sets the moments of second order.
template <class S, bool forced, class V>
LBM_HD void set_second(MovingMoments<S, V>& n, const LowMoments<S, V>& low, const Moments<S, V>& m) {
    using R = Scalar<V>;
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a <= b) {
                V known = m.momentum[a] * m.velocity[b];
                if constexpr (a == b) {
                    known = known + R(1.0 / 3) * m.density_deviation;
                }
                if constexpr (forced) {
                    known = known - R(0.5) * (m.velocity[a] * m.force[b] + m.velocity[b] * m.force[a]);
                }
                n.second[a][b] = low.second[a][b] - known;
            }
        });
    });
}

/// Sets the moments of third order, after those of second order.
template <class S, bool forced, class V>
LBM_HD void set_third(MovingMoments<S, V>& n, const LowMoments<S, V>& low, const Moments<S, V>& m) {
    using R = Scalar<V>;
    const auto& u = m.velocity;
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        const V weighted = R(1.0 / 3) * low.first[a];
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a != b) {
                constexpr int first = a < b ? a : b, second = a < b ? b : a;
                V both = low.second[first][second] + n.second[first][second];
                if constexpr (forced) {
                    both = both - R(0.5) * (u[a] * m.force[b]);
                }
                n.third[a][b] = low.third[a][b] - ((weighted + u[b] * both) + u[a] * n.second[b][b]);
            }
        });
    });
    if constexpr (ComovingFrame<S>::cornered) {
        V known = u[0] * u[1] * m.momentum[2] + (u[0] * n.second[1][2] + u[1] * n.second[0][2] + u[2] * n.second[0][1]);
        if constexpr (forced) {
            known = known - R(0.5) * (u[1] * u[2] * m.force[0] + u[0] * (u[2] * m.force[1] + u[1] * m.force[2]));
        }
        n.triple = low.triple - known;
    }
}

/// Makes the stress of n, which relaxes with omega, a mixture of its own with the weight sigma (`hybrid`) and of the
/// stress -2 rho cs2 / omega S_ab that the Chapman-Enskog expansion gives it to first order, with the strain rate S of
/// velocity gradients (Jacob, Malaspinas & Sagaut, J. Turbul. 19 (2018) 1051).
template <class S, class V, class Parameters>
LBM_HD void mix_second(MovingMoments<S, V>& n, V omega, const Moments<S, V>& m, const Parameters& parameters) {
    using R = Scalar<V>;
    const V factor = ((parameters.hybrid - R(1)) * R(2.0 / 3) / m.unit) * m.density / omega;
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a <= b) {
                const V expanded = factor * parameters.strain[symmetric_place<S::D>(a, b)];
                n.second[a][b] = parameters.hybrid * n.second[a][b] + expanded;
            }
        });
    });
}

/// The relaxation rate of the stress, with an eddy viscosity if there is one.
template <class S, class V, class Parameters>
LBM_HD V stress_rate(const MovingMoments<S, V>& n, const Moments<S, V>& m, const Parameters& parameters) {
    return stress_relaxation_rate(parameters, m.density, m.unit,
                                  [&]() LBM_INLINE_LAMBDA { return tensor_norm2(n.second); });
}

/// Collides in the moving frame. `Rates` has `third`, whether moments of third order relax at a rate other than 1, and
/// odd<S>(omega, parameters), which is that rate.
template <class S, class Rates, bool forced, class V, class Parameters>
LBM_HD void collide_in_moving_frame(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m,
                                    const Parameters& parameters) {
    using F = ComovingFrame<S>;
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    const LowMoments<S, V> low = low_moments<S>(sums);
    MovingMoments<S, V> n;
    set_second<S, forced>(n, low, m);
    const V omega = stress_rate(n, m, parameters);
    if constexpr (requires { parameters.has_strain; }) {
        if (parameters.has_strain) {
            mix_second<S>(n, omega, m, parameters);
        }
    }

    V moment[F::places];  // as to_frame_at_rest has them
    if constexpr (Rates::third) {
        set_third<S, forced>(n, low, m);
        const V kept = R(1) - Rates::template odd<S>(omega, parameters), quarter = R(0.25) * kept;
        static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a != b) {
                    moment[F::step(a) + 2 * F::step(b)] = quarter * n.third[a][b];
                }
            });
        });
        if constexpr (F::cornered) {
            moment[13] = (R(0.125) * kept) * n.triple;
        }
    }

    const V kept = R(1) - omega, half = R(0.5) * kept, quarter = R(0.25) * kept;
    if constexpr (F::complete) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[2 * F::step(d)] = half * n.second[d][d]; });
    } else {
        const V mean = R(1.0 / 3) * (n.second[0][0] + n.second[1][1] + n.second[2][2]);
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[2 * F::step(d)] = half * (n.second[d][d] - mean); });
    }
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
        moment[F::step(a) + F::step(b)] = quarter * n.second[a][b];
    });
    if constexpr (forced) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[F::step(d)] = R(0.25) * m.force[d]; });
    }
    moment[0] = m.density_deviation;
    to_frame_at_rest<S, (Rates::third ? 3 : 2), forced>(moment, m);
    end_at_third_order<S>(moment, m);
    set_populations<S, forced>(moment, sums, m, h);
}

/// The same for a force that there may be, and a coupling, whose part of the equilibrium the collision leaves alone.
template <class S, class Rates, class V, class Parameters, class Coupling>
LBM_HD void collide_in_moving_frame(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                                    const Parameters& parameters, const Coupling& coupling) {
    constexpr int pairs = Stencil<S>::pairs;
    PairSums<S, V> own = sums;
    static_for<pairs>([&]<int p>() LBM_INLINE_LAMBDA { coupling.template apply<p>(own.even[p]); });
    if (forced) {
        collide_in_moving_frame<S, Rates, true>(h, own, m, parameters);
    } else {
        collide_in_moving_frame<S, Rates, false>(h, own, m, parameters);
    }
    if constexpr (!IsSame<Coupling, NoCoupling>::value) {
        V coupled[pairs];
        static_for<pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            coupled[p] = sums.even[p] - own.even[p];
            if constexpr (p >= S::D) {  // those along the axes still have it
                const V half = Scalar<V>(0.5) * coupled[p];
                h[2 * p + 1] = h[2 * p + 1] + half;
                h[2 * p + 2] = h[2 * p + 2] + half;
            }
        });
        h[0] = h[0] - total<0, pairs>(coupled);
    }
}

}  // namespace lbm
