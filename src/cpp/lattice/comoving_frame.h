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
    /// stress relaxes with 1, which is a bulk viscosity of 1/9, and moments of third order with this rate at least.
    static constexpr bool complete = S::D == 2 || cornered;
    static constexpr double least_odd_rate = complete ? 0 : 0.6;

    /// The moment (a, b, c) is kept at the place a + 3 b + 9 c.
    LBM_HD static constexpr int exponent(int k, int axis) { return axis == 0 ? k % 3 : axis == 1 ? k / 3 % 3 : k / 9; }
    static constexpr int places = S::D == 2 ? 9 : 27;
    LBM_HD static constexpr bool resolved(int k) {
        return k < places && (complete || exponent(k, 0) * exponent(k, 1) * exponent(k, 2) == 0);
    }
    LBM_HD static constexpr int step(int axis) { return axis == 0 ? 1 : axis == 1 ? 3 : 9; }
    LBM_HD static constexpr int order(int k) { return exponent(k, 0) + exponent(k, 1) + exponent(k, 2); }

    /// Whether the moment may differ from zero once the frame has been shifted along the first `shifts` axes.
    LBM_HD static constexpr bool present(int k, int shifts, bool third, bool forced) {
        if (!resolved(k)) {
            return false;
        }
        if (shifts == 0) {
            const int n = order(k);
            return n == 0 || (n == 1 && forced) || n == 2 || (n == 3 && third);
        }
        const int axis = shifts - 1;
        for (int e = 0; e <= exponent(k, axis); ++e) {
            if (present(k - e * step(axis), axis, third, forced)) {
                return true;
            }
        }
        return false;
    }
};

/// Sums of pairs that the moments of second and third order consist of.
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
        corner_sum = total<P::corner(0), P::corners>(sums.even);
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            corner_flux[d] = scaled<P::c(P::corner(0), d)>(sums.odd[P::corner(0)]);
            static_for<P::corners - 1>([&]<int k>() LBM_INLINE_LAMBDA {
                accumulate<P::c(P::corner(k + 1), d)>(corner_flux[d], sums.odd[P::corner(k + 1)]);
            });
        });
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            corner_shear[q] = V{};
            static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
                constexpr int p = P::corner(k);
                accumulate<P::c(p, P::axis(q, 0)) * P::c(p, P::axis(q, 1))>(corner_shear[q], sums.even[p]);
            });
        });
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            accumulate<P::c(p, 0) * P::c(p, 1) * P::c(p, 2)>(m.triple, sums.odd[p]);
        });
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
template <class S, bool third, bool forced, class V>
LBM_HD void to_frame_at_rest(V (&a)[ComovingFrame<S>::places], const Moments<S, V>& m) {
    using F = ComovingFrame<S>;
    static_for<S::D>([&]<int axis>() LBM_INLINE_LAMBDA {
        static_for<F::places>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int one = k + F::step(axis), two = one + F::step(axis);
            if constexpr (F::exponent(k, axis) == 0 && F::resolved(one)) {
                constexpr bool has_0 = F::present(k, axis, third, forced);
                constexpr bool has_1 = F::present(one, axis, third, forced);
                constexpr bool has_2 = F::present(two, axis, third, forced);
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
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            V even = corner_sum;
            V odd = scaled<P::c(p, 0) * P::c(p, 1) * P::c(p, 2)>(a[13]);
            static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
                accumulate<P::c(p, P::axis(q, 0)) * P::c(p, P::axis(q, 1))>(even, corner_shear[q]);
            });
            static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { accumulate<P::c(p, d)>(odd, corner_flux[d]); });
            half.even[p] = R(0.125) * even;
            half.odd[p] = R(0.125) * odd;
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
        half.even[P::edge(q, 0)] = R(0.25) * (plane[q] + shear);
        half.even[P::edge(q, 1)] = R(0.25) * (plane[q] - shear);
        half.odd[P::edge(q, 0)] = R(0.25) * (along + across);
        half.odd[P::edge(q, 1)] = R(0.25) * (along - across);
    });
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        if constexpr (P::corners > 0) {
            half.even[d] = half.even[d] + corner_sum;
        }
        half.even[d] = R(0.5) * half.even[d];
        half.odd[d] = V{};  // set below
    });
    V half_force[S::D];
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        half_force[d] = V{};
        if constexpr (forced) {
            half_force[d] = R(0.5) * m.force[d];
        }
    });
    static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
        half.even[p] = half.even[p] - R(0.5) * sums.even[p];
        half.odd[p] = half.odd[p] - R(0.5) * sums.odd[p];
    });
    enforce_conservation<S>(half, half_force);
    apply<S>(half, h);
}

/// Collides in the moving frame. `Rates` has `third`, whether moments of third order relax at a rate other than 1, and
/// odd<S>(omega, parameters), which is that rate.
template <class S, class Rates, bool forced, class V, class Parameters>
LBM_HD void collide_in_moving_frame(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m,
                                    const Parameters& parameters) {
    using F = ComovingFrame<S>;
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    constexpr R cs2 = R(1.0 / 3), half = R(0.5);
    const LowMoments<S, V> low = low_moments<S>(sums);
    V streamed[S::D];  // the momentum without half of the force
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        streamed[d] = m.momentum[d];
        if constexpr (forced) {
            streamed[d] = streamed[d] - half * m.force[d];
        }
    });

    // The second moments of n, and its third ones in the moving frame.
    V stress[S::D][S::D];
    static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
        static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
            if constexpr (a <= b) {
                V known = m.momentum[a] * m.velocity[b];
                if constexpr (a == b) {
                    known = known + cs2 * m.density_deviation;
                }
                if constexpr (forced) {
                    known = known - half * (m.velocity[a] * m.force[b] + m.velocity[b] * m.force[a]);
                }
                stress[a][b] = low.second[a][b] - known;
            }
        });
    });
    const auto pi = [&]<int a, int b>() LBM_INLINE_LAMBDA { return stress[a < b ? a : b][a < b ? b : a]; };

    const V omega =
        stress_relaxation_rate(parameters, m.density, m.unit, [&]() LBM_INLINE_LAMBDA { return tensor_norm2(stress); });

    V moment[F::places];
    if constexpr (Rates::third) {
        const V kept = R(1) - Rates::template odd<S>(omega, parameters);
        static_for<S::D>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<S::D>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a != b) {
                    const V square = m.velocity[b] * m.velocity[b];
                    V known = (cs2 + square) * streamed[a];
                    if constexpr (forced) {
                        known = known - m.velocity[a] * m.velocity[b] * m.force[b];
                    }
                    known = known + (scaled<2>(m.velocity[b]) * pi.template operator()<a, b>() +
                                     m.velocity[a] * pi.template operator()<b, b>());
                    moment[F::step(a) + 2 * F::step(b)] = kept * (low.third[a][b] - known);
                }
            });
        });
        if constexpr (F::cornered) {
            const auto& u = m.velocity;
            V known = u[0] * u[1] * m.momentum[2] + (u[0] * stress[1][2] + u[1] * stress[0][2] + u[2] * stress[0][1]);
            if constexpr (forced) {
                known = known - half * (u[1] * u[2] * m.force[0] + u[0] * (u[2] * m.force[1] + u[1] * m.force[2]));
            }
            moment[13] = kept * (low.triple - known);
        }
    }

    const V kept = R(1) - omega;
    if constexpr (F::complete) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[2 * F::step(d)] = kept * stress[d][d]; });
    } else {
        const V mean = cs2 * (stress[0][0] + stress[1][1] + stress[2][2]);
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[2 * F::step(d)] = kept * (stress[d][d] - mean); });
    }
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
        moment[F::step(a) + F::step(b)] = kept * stress[a][b];
    });
    if constexpr (forced) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { moment[F::step(d)] = half * m.force[d]; });
    }
    moment[0] = m.density_deviation;
    to_frame_at_rest<S, Rates::third, forced>(moment, m);
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
