// Cumulant collision of D3Q27 (Geier, Schoenherr, Pasquali & Krafczyk, Comput. Math. Appl. 70 (2015) 507), with the
// parametrisation that makes diffusion fourth-order accurate (Geier, Pasquali & Schoenherr, J. Comput. Phys. 348 (2017)
// 862).
//
// Cumulants of order four and above relax at the rate 1, so their values before the collision are not needed: moments
// up to the third order are summed and shifted to the frame of the fluid, and the collision builds all of them anew.
// They are the Hermite moments of comoving_frame.h: those of second and third order are the cumulants, less the
// pressure of the equilibrium, and those of higher order consist of products of cumulants, without any part of the
// equilibrium.
//
// A force is treated as comoving_frame.h says: half of it before the relaxation and half after, as first moments.
#pragma once

#include "../comoving_frame.h"
#include "../stencils/d3q27.h"

namespace lbm {

struct Cumulant : FlowCollision {
    static constexpr const char* name = "cumulant";
    static constexpr bool has_incompressible = false;  // its corrections are those of a compressible fluid

    template <class S>
    static constexpr bool goes_with = IsSame<S, D3Q27>::value;

    template <class Real>
    struct Parameters : Relaxation<Real> {
        Real omega_bulk;       // omega_2, rate of the trace of the stress
        Real kept_sum;         // 1 - omega_3, of C_120 + C_102 and the like
        Real kept_difference;  // 1 - omega_4, of C_120 - C_102 and the like
        Real kept_product;     // 1 - omega_5, of C_111
        Real inverse_limiter;  // 1 / lambda; 0 without a limiter
        Real diagonal;         // 2/3 (1/omega - 1/2) A
        Real mixed;            // (1/omega - 1/2) B
    };

    /// With an eddy viscosity the rate of the stress only is another than that of the parameters.
    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        const Relaxation<double> relaxation = lbm::relaxation(given);
        const double w1 = relaxation.omega, w2 = 1 / (4.5 * given.positive("bulk_viscosity", 1.0 / 9) + 0.5);
        const double limiter = given.at_least_zero("limiter", 0.01);
        const bool parametrized = given.at_least_zero("parametrized", 1) > 0;
        const double inverse_limiter = limiter > 0 ? 1 / limiter : 0;
        Parameters<double> p{relaxation, w2, 0, 0, 0, inverse_limiter, 0, 0};
        // The rates are those of the branch that ends at omega_1 = 2. It begins where omega_4 is 0.
        if (!parametrized || !(w1 * (1 + 3 * w2) > 7 * w2)) {
            return p;
        }
        const double w3 =
            8 * (w1 - 2) * (w2 * (3 * w1 - 1) - 5 * w1) / (8 * (5 - 2 * w1) * w1 + w2 * (8 + w1 * (9 * w1 - 26)));
        const double w4 = 8 * (w1 - 2) * (w1 + w2 * (3 * w1 - 7)) / (w2 * (56 + w1 * (9 * w1 - 42)) - 8 * w1);
        const double w5 = 24 * (w1 - 2) *
                          (4 * w1 * w1 + w1 * w2 * (18 - 13 * w1) + w2 * w2 * (2 + w1 * (6 * w1 - 11))) /
                          (16 * w1 * w1 * (w1 - 6) - 2 * w1 * w2 * (216 + 5 * w1 * (9 * w1 - 46)) +
                           w2 * w2 * (w1 * (3 * w1 - 10) * (15 * w1 - 28) - 48));
        const auto possible = [](double rate) { return rate > 0 && rate < 2; };
        if (!possible(w3) || !possible(w4) || !possible(w5)) {
            return p;
        }
        const double below = (w1 - w2) * (w2 * (2 + 3 * w1) - 8 * w1);
        const double A = (4 * w1 * w1 + 2 * w1 * w2 * (w1 - 6) + w2 * w2 * (w1 * (10 - 3 * w1) - 4)) / below;
        const double B =
            (4 * w1 * w2 * (9 * w1 - 16) - 4 * w1 * w1 - 2 * w2 * w2 * (2 + 9 * w1 * (w1 - 2))) / (3 * below);
        p.kept_sum = 1 - w3;
        p.kept_difference = 1 - w4;
        p.kept_product = 1 - w5;
        p.diagonal = 2.0 / 3 * (1 / w1 - 0.5) * A;
        p.mixed = (1 / w1 - 0.5) * B;
        return p;
    }

    template <class S, class V, class Parameters, class Coupling>
    LBM_HD static void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                               const Parameters& parameters, const Coupling&) {
        if (forced) {
            collide<true>(h, sums, m, parameters);
        } else {
            collide<false>(h, sums, m, parameters);
        }
    }

    template <bool forced, class S, class V, class P>
    LBM_HD static void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, const P& p) {
        using R = Scalar<V>;
        using F = ComovingFrame<S>;
        constexpr R third = R(1.0 / 3);
        const LowMoments<S, V> low = low_moments<S>(sums);
        MovingMoments<S, V> n;
        set_second<S, forced>(n, low, m);
        set_third<S, forced>(n, low, m);
        const auto& stress = n.second;
        const V(&u)[3] = m.velocity;
        const V omega = stress_rate(n, m, p);

        // Relaxation of the second order with the corrections for Galilean invariance; rho du_a/dx_a is `slope`.
        const V trace = stress[0][0] + stress[1][1] + stress[2][2];
        const V half_omega = R(0.5) * omega;
        const R half_bulk = R(0.5) * p.omega_bulk;
        const V mean = (half_omega - half_bulk) * trace, steep = R(-3) * half_omega;
        V slope[3], correction[3];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            slope[a] = steep * stress[a][a] + mean;
            correction[a] = (u[a] * u[a]) * slope[a];
        });
        const V kept = R(1) - omega, viscous = R(3) - R(3) * half_omega;
        const auto difference = [&](int a, int b) LBM_INLINE_LAMBDA {
            return kept * (stress[a][a] - stress[b][b]) - viscous * (correction[a] - correction[b]);
        };
        const V to_y = difference(0, 1), to_z = difference(0, 2);
        const V new_trace =
            (R(1) - p.omega_bulk) * trace - (R(3) - R(3) * half_bulk) * (correction[0] + correction[1] + correction[2]);
        const V shear[3] = {stress[1][2], stress[0][2], stress[0][1]};  // before the collision, by the axis left out
        V q[3], s[3];                                                   // after it
        q[0] = third * (new_trace + to_y + to_z);
        q[1] = q[0] - to_y;
        q[2] = q[0] - to_z;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA { s[a] = kept * shear[a]; });

        V g[3][3], t;  // C_abb and C_111 after the collision
        relax_third(n, m, p, g, t);

        // Fourth order: e[a] is C_bbcc and w[a] is C_aabc, of the axes b and c that are not a.
        V e[3], w[3];
        const V rate = p.mixed * omega;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            e[a] = p.diagonal * (slope[b] + slope[c]);
            w[a] = rate * shear[a];
        });

        // Moments from cumulants, order by order; `six` gathers that of order (2, 2, 2).
        const V inverse_density = m.unit / m.density;
        V k[F::places];
        k[0] = m.density_deviation;
        k[13] = t;
        V six = R(2) * plus_multiple<2>(g[0][1] * g[0][2] + g[1][0] * g[1][2] + g[2][0] * g[2][1], t * t), cubes[3];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            constexpr int x = F::step(a), y = F::step(b), z = F::step(c);
            if constexpr (forced) {
                k[x] = R(0.5) * m.force[a];
            }
            k[2 * x] = q[a];
            k[y + z] = s[a];
            k[x + 2 * y] = g[a][b];
            k[x + 2 * z] = g[a][c];
            const V square = s[a] * s[a];
            const V pairs = plus_multiple<2>(q[b] * q[c], square);
            const V mixed = plus_multiple<2>(q[a] * s[a], s[b] * s[c]);
            k[2 * y + 2 * z] = inverse_density * pairs - e[a];
            k[2 * x + y + z] = inverse_density * mixed + w[a];
            const V twice = plus_multiple<2>(s[c] * g[b][c] + s[b] * g[c][b], s[a] * t);
            k[x + 2 * y + 2 * z] = inverse_density * plus_multiple<2>(q[b] * g[a][c] + q[c] * g[a][b], twice);
            six = plus_multiple<4>(six - q[a] * e[a], s[a] * w[a]);
            cubes[a] = a == 0 ? q[0] * pairs : q[a] * square;
        });
        const V products = plus_multiple<2>(cubes[0], plus_multiple<4>(cubes[1] + cubes[2], s[0] * s[1] * s[2]));
        k[26] = inverse_density * (six + inverse_density * products);
        to_frame_at_rest<S, 6, forced>(k, m);
        change_to<S, forced>(k, sums, m, h);
    }

    /// Relaxes the third order, limited: C becomes (1 - omega') C with omega' = omega + (1 - omega) |C| / (rho lambda +
    /// |C|). The divisors of several are inverted together, as a division takes as long as ten multiplications.
    template <class S, class V, class P>
    LBM_HD static void relax_third(const MovingMoments<S, V>& n, const Moments<S, V>& m, const P& p, V (&g)[3][3],
                                   V& t) {
        using R = Scalar<V>;
        const V scale = (m.unit / m.density) * p.inverse_limiter;
        V kept[7], divisor[7], inverse[7];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            const V plus = n.third[a][b] + n.third[a][c], minus = n.third[a][b] - n.third[a][c];
            kept[2 * a] = (R(0.5) * p.kept_sum) * plus;
            kept[2 * a + 1] = (R(0.5) * p.kept_difference) * minus;
            divisor[2 * a] = R(1) + scale * magnitude(plus);
            divisor[2 * a + 1] = R(1) + scale * magnitude(minus);
        });
        kept[6] = p.kept_product * n.triple;
        divisor[6] = R(1) + scale * magnitude(n.triple);
        const V first = divisor[0] * divisor[1], second = divisor[2] * divisor[3], last = divisor[4] * divisor[5];
        const V of_four = R(1) / (first * second), of_three = R(1) / (last * divisor[6]);
        const V by_first = second * of_four, by_second = first * of_four, by_last = divisor[6] * of_three;
        inverse[0] = divisor[1] * by_first;
        inverse[1] = divisor[0] * by_first;
        inverse[2] = divisor[3] * by_second;
        inverse[3] = divisor[2] * by_second;
        inverse[4] = divisor[5] * by_last;
        inverse[5] = divisor[4] * by_last;
        inverse[6] = last * of_three;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            const V plus = kept[2 * a] * inverse[2 * a], minus = kept[2 * a + 1] * inverse[2 * a + 1];
            g[a][b] = plus + minus;
            g[a][c] = plus - minus;
        });
        t = kept[6] * inverse[6];
    }
};

}  // namespace lbm
