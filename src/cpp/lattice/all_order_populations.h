// The populations whose moments of third and higher order vanish in the frame that moves with the fluid, from density,
// momentum and the moments of second order: those that the recursive regularised collision leaves.
//
// With the stress S = A - rho u u - (u F + F u) / 2 of the cell, sums of products of components follow axis by axis.
// Let a line of moments have the first three powers of c_z, and some product of c_x and c_y before them. From its
// moments k_0, k_1 and k_2 of 1, c_z - u_z and (c_z - u_z)^2 - 1/3 those of the powers of c_z are k_0,
// m_1 = u_z k_0 + k_1 and m_2 = u_z (m_1 + k_1) + k_2 + k_0 / 3. Most lines have few of these:
//   c_x^2 c_y, c_x^2 c_y^2: k_0 = m(c_x^2), k_1 = 2 u_x S_xy + q_x F_y / 2, k_2 = q_x S_yy with q = u^2 + 1/3,
//   c_x c_y c_z, c_x c_y c_z^2: k_0 = A_xy, k_1 = u_x S_yz + u_y S_xz + u_x u_y F_z / 2, k_2 = u_x u_y S_zz,
//   c_x^2 c_y^2 c_z, c_x^2 c_y^2 c_z^2: k_0 = m(c_x^2 c_y^2), k_1 = 2 u_x q_y S_xz + 2 u_y q_x S_yz + q_x q_y F_z / 2,
//   k_2 = q_x q_y S_zz.
// Where a stencil lacks corners its equilibrium ends at third order (ComovingFrame), and
//   m(c_x^2 c_y^2) = q_x T_yy + q_y T_xx + 4 u_x u_y S_xy + rho (u_x^2 + u_y^2) / 3 - rho u_z^2 / 6 + (rho - 1) / 9
// with T = A - rho u u. Sums of even order are those of the deviations from the state at rest. Only where they are
// multiplied by a velocity, for a sum of odd order, they are those of the populations themselves.
#pragma once

#include "comoving_frame.h"

namespace lbm {

/// Density, momentum, velocity and second-order moments of a cell, of which all others follow.
template <class S, class V>
struct SecondOrderState {
    using P = CubicPairs<S>;
    /// What the elements of A off the diagonal are divided by, so that a stencil needs few products by powers of two.
    static constexpr int shear_divisor = P::corners > 0 ? 8 : 4;

    V density_deviation;    // rho - 1
    V density;              // of inertia (inertia.h)
    V momentum[S::D];       // with the whole force F of the step
    V flow_momentum[S::D];  // rho u, without F / 2
    V velocity[S::D];       // u
    V quarter_force[S::D];  // F / 4; unused without a force
    V diagonal[S::D];       // A_dd / 8
    V shear[P::planes];     // A_ab / shear_divisor, by planes
};

/// Sums of products of the components of velocities, times populations; each divided by a power of two.
template <class S, class V>
struct RawMoments {
    using P = CubicPairs<S>;

    V square[S::D];             // of c_d^2, by 2
    V shear[P::planes];         // of c_a c_b, by SecondOrderState::shear_divisor
    V flux[P::planes][2];       // of one component and the square of the other, by 2; [0] has c_a
    V plane[P::planes];         // of c_a^2 c_b^2, by 4
    V corner_sum;               // of all squares, by 8; this and what follows only where there are corners
    V corner_shear[P::planes];  // of c_a c_b and the square of the third, by 8
    V corner_flux[S::D];        // of c_d and the squares of both others, by 4
    V triple;                   // of all components, by 4
};

/// The moments of all orders.
template <class S, bool forced, class V>
LBM_HD RawMoments<S, V> raw_moments(const SecondOrderState<S, V>& m) {
    using P = CubicPairs<S>;
    using R = Scalar<V>;
    constexpr bool cornered = P::corners > 0, complete = ComovingFrame<S>::complete;
    const auto& u = m.velocity;
    RawMoments<S, V> raw;
    V whole[S::D], square[S::D], kept[S::D];  // of c_d^2 with rest, by 2; q; S_dd / 8, or T_dd / 8
    V advected[S::D];                         // rho u_d u_d
    const V rest = R(1.0 / 6) * m.density_deviation, whole_rest = R(1.0 / 6) * m.density;
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        raw.square[d] = plus_multiple<4>(rest, m.diagonal[d]);
        whole[d] = plus_multiple<4>(whole_rest, m.diagonal[d]);
        square[d] = u[d] * u[d] + R(1.0 / 3);
        advected[d] = m.flow_momentum[d] * u[d];
        kept[d] = plus_fraction<-8>(m.diagonal[d], advected[d]);
        if constexpr (forced && complete) {
            kept[d] = plus_fraction<-2>(kept[d], u[d] * m.quarter_force[d]);
        }
    });
    V stress[P::planes];                    // S_ab
    V bent[P::planes][2], line[P::planes];  // u_a S_ab and u_b S_ab; q_a S_bb / 8
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
        raw.shear[q] = m.shear[q];
        V known = m.momentum[a] * u[b];
        if constexpr (forced) {
            known = plus_multiple<2>(known, u[a] * m.quarter_force[b]);
        }
        stress[q] = plus_multiple<SecondOrderState<S, V>::shear_divisor>(-known, m.shear[q]);
        bent[q][0] = u[a] * stress[q];
        bent[q][1] = u[b] * stress[q];
        V rising[2] = {bent[q][1], bent[q][0]};  // half of k_1 of the lines of c_b^2 c_a and of c_a^2 c_b
        if constexpr (forced) {
            rising[0] = rising[0] + square[b] * m.quarter_force[a];
            rising[1] = rising[1] + square[a] * m.quarter_force[b];
        }
        raw.flux[q][0] = u[a] * whole[b] + rising[0];
        raw.flux[q][1] = u[b] * whole[a] + rising[1];
        line[q] = square[a] * kept[b];
        if constexpr (complete) {
            const V even = plus_multiple<2>(R(1.0 / 6) * raw.square[a], line[q]);
            raw.plane[q] = plus_fraction<2>(even, u[b] * (raw.flux[q][1] + rising[1]));
        }
    });
    if constexpr (!complete) {
        const V all = R(1.0 / 36) * m.density_deviation + R(1.0 / 12) * (advected[0] + advected[1] + advected[2]);
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int a = P::axis(q, 0), b = P::axis(q, 1);
            const V both = plus_fraction<-8>(all, advected[P::normal(q)]) + u[b] * bent[q][0];
            raw.plane[q] = plus_multiple<2>(both, line[q] + square[b] * kept[a]);
        });
    }
    if constexpr (cornered) {
        const V whole_plane = R(1.0 / 36) * (m.density - m.density_deviation);
        V turned[S::D];  // u_d times the stress of the plane normal to d
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { turned[d] = u[d] * stress[P::plane(d)]; });
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int a = P::axis(q, 0), b = P::axis(q, 1), c = P::normal(q);
            constexpr int qa = P::plane(b), qb = P::plane(a);  // the planes of a and c, and of b and c
            constexpr int ka = P::axis(qa, 0) == a ? 0 : 1, kb = P::axis(qb, 0) == b ? 0 : 1;
            const V product = u[a] * u[b];
            V rising = turned[a] + turned[b];  // k_1 of the line of c_a c_b
            if constexpr (forced) {
                rising = plus_multiple<2>(rising, product * m.quarter_force[c]);
            }
            const V shear = plus_fraction<4>(product * kept[c], u[c] * rising);
            raw.corner_shear[q] = square[c] * m.shear[q] + shear;
            if constexpr (q == 0) {
                raw.triple = plus_multiple<2>(R(0.25) * rising, u[c] * m.shear[q]);
            }
            V half = square[b] * bent[qa][ka] + square[a] * bent[qb][kb];  // of k_1 of the line of c_a^2 c_b^2
            if constexpr (forced) {
                half = half + (square[a] * square[b]) * m.quarter_force[c];
            }
            raw.corner_flux[c] = plus_fraction<2>(u[c] * (raw.plane[q] + whole_plane), half);
            if constexpr (q == 0) {
                const V even = R(1.0 / 6) * raw.plane[q] + square[b] * line[qa];
                raw.corner_sum = plus_fraction<2>(even, u[c] * plus_fraction<2>(raw.corner_flux[c], half));
            }
        });
    }
    return raw;
}

/// The populations with these moments.
///
/// Those along the axes and the one at rest are what all others leave of mass and momentum, by the rounded moments of
/// which all are sums, so that neither drifts.
template <class S, class V, class Populations>
LBM_HD void populations_with(const RawMoments<S, V>& raw, const V& density_deviation, const V (&momentum)[S::D],
                             Populations& h) {
    using P = CubicPairs<S>;
    constexpr bool cornered = P::corners > 0;
    V along[P::planes][2], edges[P::planes];
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int p = P::edge(q, 0), r = P::edge(q, 1);
        V shear = raw.shear[q], even[2];
        edges[q] = raw.plane[q];
        along[q][0] = raw.flux[q][0];
        along[q][1] = raw.flux[q][1];
        if constexpr (cornered) {  // what corners have is none of the edges'
            edges[q] = plus_multiple<-2>(edges[q], raw.corner_sum);
            shear = shear - raw.corner_shear[q];
            along[q][0] = plus_multiple<-2>(along[q][0], raw.corner_flux[P::axis(q, 0)]);
            along[q][1] = plus_multiple<-2>(along[q][1], raw.corner_flux[P::axis(q, 1)]);
            even[0] = plus_multiple<2>(edges[q], shear);
            even[1] = plus_multiple<-2>(edges[q], shear);
        } else {
            even[0] = edges[q] + shear;
            even[1] = edges[q] - shear;
        }
        const V sum = along[q][0] + along[q][1], difference = along[q][0] - along[q][1];
        h[2 * p + 1] = plus_fraction<2>(even[0], sum);
        h[2 * p + 2] = plus_fraction<-2>(even[0], sum);
        h[2 * r + 1] = plus_fraction<2>(even[1], difference);
        h[2 * r + 2] = plus_fraction<-2>(even[1], difference);
    });
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        constexpr int q = d == 2 ? 1 : 0, k = d == 0 ? 0 : 1;  // a plane that contains the axis, and its place
        V others = edges[q], flux = along[q][k];
        if constexpr (S::D == 3) {
            constexpr int r = P::other_plane(q, d);
            others = others + raw.plane[r];
            flux = flux + raw.flux[r][P::axis(r, 0) == d ? 0 : 1];
        }
        const V even = plus_multiple<-2>(raw.square[d], others), odd = plus_multiple<-2>(momentum[d], flux);
        h[2 * d + 1] = plus_fraction<2>(even, odd);
        h[2 * d + 2] = plus_fraction<-2>(even, odd);
    });
    // The sums of squares have those populations twice that lie in the plane of two axes.
    V moving;
    if constexpr (S::D == 3) {
        const V along_x = plus_multiple<-2>(raw.square[0], edges[0] + raw.plane[1]);  // of the axis alone
        moving = along_x + (raw.square[1] + raw.square[2]);
    } else {
        moving = raw.square[0] + raw.square[1];
    }
    h[0] = plus_multiple<4>(plus_multiple<-2>(density_deviation, moving), raw.plane[P::planes - 1]);
    if constexpr (cornered) {
        const SignedSums even(raw.corner_sum, raw.corner_shear[0], raw.corner_shear[1], raw.corner_shear[2]);
        const SignedSums odd(raw.triple, raw.corner_flux[0], raw.corner_flux[1], raw.corner_flux[2]);
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            constexpr auto c = [](int plane) { return P::c(p, P::axis(plane, 0)) * P::c(p, P::axis(plane, 1)); };
            constexpr int x = P::c(p, 0), y = P::c(p, 1), z = P::c(p, 2);
            const V both = even.template of<1, c(0), c(1), c(2)>(), apart = odd.template of<x * y * z, x, y, z>();
            h[2 * p + 1] = plus_fraction<2>(both, apart);
            h[2 * p + 2] = plus_fraction<-2>(both, apart);
        });
    }
}

}  // namespace lbm
