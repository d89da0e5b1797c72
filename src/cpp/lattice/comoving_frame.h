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

/// Sums of four numbers with various signs, from the sums and the differences of two, which they share.
template <class V>
struct SignedSums {
    V sum[2], difference[2];

    LBM_HD SignedSums(V a, V b, V c, V d) : sum{a + b, c + d}, difference{a - b, c - d} {}

    /// a first + b second + c third + d fourth, each of a, b, c and d being +1 or -1.
    template <int a, int b, int c, int d>
    LBM_HD V of() const {
        V result = scaled<a>(a == b ? sum[0] : difference[0]);
        accumulate<c>(result, c == d ? sum[1] : difference[1]);
        return result;
    }
};

/// The sums of pairs that the moments of second and third order consist of.
template <class S, class V>
struct LowMoments {
    V second[S::D][S::D];  // sum c_a c_b h; a <= b
    V third[S::D][S::D];   // sum c_a c_b^2 h; a != b
    V triple;              // sum c_x c_y c_z h
};

template <class S, class V>
LBM_HD LowMoments<S, V> low_moments(const PairSums<S, V>& sums) {
    using P = CubicPairs<S>;
    LowMoments<S, V> m;
    V corner_sum = V{}, corner_flux[S::D], corner_shear[P::planes];
    m.triple = V{};
    if constexpr (P::corners > 0) {
        constexpr int p = P::corner(0), q = P::corner(1), r = P::corner(2), s = P::corner(3);
        const SignedSums even(sums.even[p], sums.even[q], sums.even[r], sums.even[s]);
        const SignedSums odd(sums.odd[p], sums.odd[q], sums.odd[r], sums.odd[s]);
        corner_sum = even.template of<1, 1, 1, 1>();
        static_for<P::planes>([&]<int plane>() LBM_INLINE_LAMBDA {
            constexpr auto c = [](int k) { return P::c(k, P::axis(plane, 0)) * P::c(k, P::axis(plane, 1)); };
            corner_shear[plane] = even.template of<c(p), c(q), c(r), c(s)>();
        });
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            corner_flux[d] = odd.template of<P::c(p, d), P::c(q, d), P::c(r, d), P::c(s, d)>();
        });
        constexpr auto c = [](int k) { return P::c(k, 0) * P::c(k, 1) * P::c(k, 2); };
        m.triple = odd.template of<c(p), c(q), c(r), c(s)>();
    }
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        m.second[d][d] = sums.even[d];
        if constexpr (P::corners > 0) {
            m.second[d][d] = m.second[d][d] + corner_sum;
        }
    });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1), first = P::edge(q, 0), second = P::edge(q, 1);
        const V sum = sums.even[first] + sums.even[second];
        m.second[a][a] = m.second[a][a] + sum;
        m.second[b][b] = m.second[b][b] + sum;
        m.second[a][b] = sums.even[first] - sums.even[second];
        m.third[a][b] = sums.odd[first] + sums.odd[second];
        m.third[b][a] = sums.odd[first] - sums.odd[second];
        if constexpr (P::corners > 0) {
            m.second[a][b] = m.second[a][b] + corner_shear[q];
            m.third[a][b] = m.third[a][b] + corner_flux[a];
            m.third[b][a] = m.third[b][a] + corner_flux[b];
        }
    });
    return m;
}

/// Turns moments of the moving frame into those of the frame at rest, axis by axis. a[0], the density, is left out:
/// what it contributes to a line of moments begins with the momentum.
template <class S, int highest, bool forced, class V>
LBM_HD void to_frame_at_rest(V (&a)[ComovingFrame<S>::places], const Moments<S, V>& m) {
    using F = ComovingFrame<S>;
    static_for<S::D>([&]<int axis>() LBM_INLINE_LAMBDA {
        static_for<F::places>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int one = k + F::step(axis), two = one + F::step(axis);
            if constexpr (F::exponent(k, axis) == 0 && F::resolved(one)) {
                constexpr bool has_0 = F::present(k, axis, highest, forced);
                constexpr bool has_1 = F::present(one, axis, highest, forced);
                constexpr bool has_2 = F::present(two, axis, highest, forced);
                V moved;  // new first moment of the line
                if constexpr (has_0) {
                    moved = k == 0 ? m.momentum[axis] : m.velocity[axis] * a[k];
                    if constexpr (has_1) {
                        moved = a[one] + moved;
                    }
                } else if constexpr (has_1) {
                    moved = a[one];
                }
                if constexpr (has_0 || has_1) {
                    V twice = moved;
                    if constexpr (has_1) {
                        twice = has_0 ? twice + a[one] : scaled<2>(twice);
                    }
                    const V risen = m.velocity[axis] * twice;
                    a[two] = has_2 ? a[two] + risen : risen;
                    a[one] = moved;
                }
            }
        });
    });
}

/// Changes populations of the pair sums `sums` to those with the given moments of the frame at rest; a[0] is the
/// density's deviation from 1.
template <class S, bool forced, class V>
LBM_HD void change_to(const V (&a)[ComovingFrame<S>::places], const PairSums<S, V>& sums, const Moments<S, V>& m,
                      V (&h)[S::Q]) {
    using F = ComovingFrame<S>;
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    constexpr R cs2 = R(1.0 / 3);
    PairChange<S, V> half;  // even and odd parts of the populations of each pair
    V square[S::D], momentum[S::D];
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        square[d] = a[2 * F::step(d)] + cs2 * a[0];
        momentum[d] = a[F::step(d)];
    });
    // Moments of even powers of two components, and products of two with the square of the third.
    V plane[P::planes], corner_shear[P::planes], corner_flux[S::D], corner_sum = V{};
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int s = F::step(P::axis(q, 0)), t = F::step(P::axis(q, 1));
        plane[q] = a[2 * s + 2 * t] + cs2 * ((a[2 * s] + a[2 * t]) + cs2 * a[0]);
    });
    if constexpr (P::corners > 0) {
        corner_sum = (a[18] + a[6]) + a[2];
        corner_sum = ((a[24] + a[20]) + a[8]) + cs2 * (corner_sum + cs2 * a[0]);
        corner_sum = a[26] + cs2 * corner_sum;
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int st = F::step(P::axis(q, 0)) + F::step(P::axis(q, 1));
            corner_shear[q] = a[st + 2 * F::step(P::normal(q))] + cs2 * a[st];
        });
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            constexpr int s = F::step(d), t = 2 * F::step((d + 1) % 3), r = 2 * F::step((d + 2) % 3);
            corner_flux[d] = a[s + t + r] + cs2 * ((a[s + t] + a[s + r]) + cs2 * momentum[d]);
        });
        const SignedSums even(corner_sum, corner_shear[0], corner_shear[1], corner_shear[2]);
        const SignedSums odd(a[13], corner_flux[0], corner_flux[1], corner_flux[2]);
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            constexpr auto c = [](int plane) { return P::c(p, P::axis(plane, 0)) * P::c(p, P::axis(plane, 1)); };
            constexpr int x = P::c(p, 0), y = P::c(p, 1), z = P::c(p, 2);
            half.even[p] = R(0.125) * plus_multiple<-4>(even.template of<1, c(0), c(1), c(2)>(), sums.even[p]);
            half.odd[p] = R(0.125) * plus_multiple<-4>(odd.template of<x * y * z, x, y, z>(), sums.odd[p]);
        });
    }
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { half.even[d] = square[d]; });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int x = P::axis(q, 0), y = P::axis(q, 1), s = F::step(x), t = F::step(y);
        V shear = a[s + t];
        V along = a[s + 2 * t] + cs2 * momentum[x], across = a[2 * s + t] + cs2 * momentum[y];
        half.even[x] = half.even[x] - plane[q];
        half.even[y] = half.even[y] - plane[q];
        if constexpr (P::corners > 0) {
            plane[q] = plane[q] - corner_sum;
            shear = shear - corner_shear[q];
            along = along - corner_flux[x];
            across = across - corner_flux[y];
        }
        constexpr int p = P::edge(q, 0), r = P::edge(q, 1);
        half.even[p] = R(0.25) * plus_multiple<-2>(plane[q] + shear, sums.even[p]);
        half.even[r] = R(0.25) * plus_multiple<-2>(plane[q] - shear, sums.even[r]);
        half.odd[p] = R(0.25) * plus_multiple<-2>(along + across, sums.odd[p]);
        half.odd[r] = R(0.25) * plus_multiple<-2>(along - across, sums.odd[r]);
    });
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        if constexpr (P::corners > 0) {
            half.even[d] = half.even[d] + corner_sum;
        }
        half.even[d] = R(0.5) * (half.even[d] - sums.even[d]);
        half.odd[d] = V{};  // set below
    });
    V half_force[S::D];
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        half_force[d] = V{};
        if constexpr (forced) {
            half_force[d] = R(0.5) * m.force[d];
        }
    });
    enforce_conservation<S>(half, half_force);
    apply<S>(half, h);
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
    V streamed[S::D];  // the momentum without half of the force
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        streamed[d] = m.momentum[d];
        if constexpr (forced) {
            streamed[d] = streamed[d] - R(0.5) * m.force[d];
        }
    });
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a != b) {
                V known = (R(1.0 / 3) + u[b] * u[b]) * streamed[a];
                if constexpr (forced) {
                    known = known - u[a] * u[b] * m.force[b];
                }
                const V of_both = u[b] * n.second[a < b ? a : b][a < b ? b : a];
                known = known + plus_multiple<2>(u[a] * n.second[b][b], of_both);
                n.third[a][b] = low.third[a][b] - known;
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

    V moment[F::places];
    if constexpr (Rates::third) {
        set_third<S, forced>(n, low, m);
        const V kept = R(1) - Rates::template odd<S>(omega, parameters);
        static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a != b) {
                    moment[F::step(a) + 2 * F::step(b)] = kept * n.third[a][b];
                }
            });
        });
        if constexpr (F::cornered) {
            moment[13] = kept * n.triple;
        }
    }

    const V kept = R(1) - omega;
    if constexpr (F::complete) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[2 * F::step(d)] = kept * n.second[d][d]; });
    } else {
        const V mean = R(1.0 / 3) * (n.second[0][0] + n.second[1][1] + n.second[2][2]);
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[2 * F::step(d)] = kept * (n.second[d][d] - mean); });
    }
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
        moment[F::step(a) + F::step(b)] = kept * n.second[a][b];
    });
    if constexpr (forced) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[F::step(d)] = R(0.5) * m.force[d]; });
    }
    moment[0] = m.density_deviation;
    to_frame_at_rest<S, (Rates::third ? 3 : 2), forced>(moment, m);
    if constexpr (!F::complete) {
        // The equilibrium ends at third order: in the frame at rest its moments He_2 He_2 + He_2 / 6 of the third axis,
        // which are orthogonal to those of lower order here, are zero.
        V flux[S::D];
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { flux[d] = m.momentum[d] * m.velocity[d]; });
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int a = P::axis(q, 0), b = P::axis(q, 1), k = 2 * (F::step(a) + F::step(b));
            moment[k] = moment[k] - (flux[a] * (m.velocity[b] * m.velocity[b]) + R(1.0 / 6) * flux[P::normal(q)]);
        });
    }
    change_to<S, forced>(moment, sums, m, h);
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
}

}  // namespace lbm
