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
    static constexpr bool takes_low_moments = true;
    static constexpr bool has_incompressible = false;  // its corrections are those of a compressible fluid

    template <class S>
    static constexpr bool goes_with = IsSame<S, D3Q27>::value;

    /// Factors of the second order. They follow from omega, the rate of the shear stress, and omega_2, that of the
    /// trace.
    template <class Real>
    struct StressRates {
        Real kept_half;       // (1 - omega) / 2
        Real kept_fourth;     // (1 - omega) / 4
        Real viscous;         // 3 (1 - omega / 2) / 2
        Real of_trace;        // (omega - omega_2) / 6
        Real of_corrections;  // (omega - omega_2) / 4
        Real steep;           // 3 omega / 2
        Real mean;            // (omega - omega_2) / 2
        Real mixed;           // (1/omega_1 - 1/2) B omega / 8, with the omega_1 of the fluid
    };

    template <class Real>
    struct Parameters : Relaxation<Real> {
        Real omega_bulk;            // omega_2, rate of the trace of the stress
        Real kept_sum;              // (1 - omega_3) / 8, of C_120 + C_102 and the like
        Real kept_difference;       // (1 - omega_4) / 8, of C_120 - C_102 and the like
        Real kept_product;          // (1 - omega_5) / 8, of C_111
        Real inverse_limiter;       // 1 / lambda; 0 without a limiter
        Real diagonal;              // (1/omega - 1/2) A / 6
        Real mixed;                 // (1/omega - 1/2) B / 8
        StressRates<Real> laminar;  // of the omega of the fluid
    };

    template <class V, class P>
    LBM_HD static StressRates<V> computed_rates(V omega, const P& p) {
        using R = Scalar<V>;
        const V kept = R(1) - omega, excess = omega - p.omega_bulk;
        return {R(0.5) * kept,    R(0.25) * kept, R(1.5) - R(0.75) * omega, R(1.0 / 6) * excess,
                R(0.25) * excess, R(1.5) * omega, R(0.5) * excess,          p.mixed * omega};
    }
    template <class V, class P>
    LBM_HD static StressRates<V> stress_rates(V omega, const P& p) {
        if (rate_varies(p)) {
            return computed_rates(omega, p);
        }
        const auto& fixed = p.laminar;
        const V none = V{};
        return {none + fixed.kept_half,      none + fixed.kept_fourth, none + fixed.viscous, none + fixed.of_trace,
                none + fixed.of_corrections, none + fixed.steep,       none + fixed.mean,    none + fixed.mixed};
    }

    /// With an eddy viscosity the rate of the stress only is another than that of the parameters.
    template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        const Relaxation<double> relaxation = lbm::relaxation(given);
        const double w1 = relaxation.omega, w2 = 1 / (4.5 * given.positive("bulk_viscosity", 1.0 / 9) + 0.5);
        const double limiter = given.at_least_zero("limiter", 0.01);
        const bool parametrized = given.at_least_zero("parametrized", 1) > 0;
        const double inverse_limiter = limiter > 0 ? 1 / limiter : 0;
        Parameters<double> p{relaxation, w2, 0, 0, 0, inverse_limiter, 0, 0, {}};
        p.laminar = computed_rates(w1, p);
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
        p.kept_sum = (1 - w3) / 8;
        p.kept_difference = (1 - w4) / 8;
        p.kept_product = (1 - w5) / 8;
        p.diagonal = (1 / w1 - 0.5) * A / 6;
        p.mixed = (1 / w1 - 0.5) * B / 8;
        p.laminar = computed_rates(w1, p);
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
        const LowMoments<S, V> low = low_moments<S>(sums);
        MovingMoments<S, V> n;
        set_second<S, forced>(n, low, m);
        set_third<S, forced>(n, low, m);
        const auto& stress = n.second;
        const V(&u)[3] = m.velocity;
        const V omega = stress_rate(n, m, p);

        // Relaxation of the second order with the corrections for Galilean invariance; rho du_a/dx_a is `slope`.
        const StressRates<V> rates = stress_rates<V>(omega, p);
        const V trace = stress[0][0] + stress[1][1] + stress[2][2];
        const V mean = rates.mean * trace;
        V slope[3], correction[3];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            slope[a] = mean - rates.steep * stress[a][a];
            correction[a] = (u[a] * u[a]) * slope[a];
        });
        // Moments after the collision are as to_frame_at_rest has them: of C_200 the half, of C_110, C_120 and moments
        // of two axes the fourth part, of those of all axes the eighth. What the trace has of its own goes to all
        // three.
        const V of_trace =
            rates.of_trace * trace - rates.of_corrections * (correction[0] + correction[1] + correction[2]);
        const V shear[3] = {stress[1][2], stress[0][2], stress[0][1]};  // before the collision, by the axis left out
        V q[3], s[3];                                                   // after it
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            q[a] = (rates.kept_half * stress[a][a] - rates.viscous * correction[a]) + of_trace;
            s[a] = rates.kept_fourth * shear[a];
        });

        const V inverse_density = m.unit * reciprocal(m.density);
        V g[3][3], t;  // C_abb and C_111 after the collision
        relax_third(n, inverse_density, p, g, t);

        // Fourth order: e[a] is -C_bbcc and w[a] is C_aabc, of the axes b and c that are not a.
        V e[3], w[3];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            e[a] = p.diagonal * (slope[b] + slope[c]);
            w[a] = rates.mixed * shear[a];
        });

        // Moments from cumulants, order by order. Of two factors one is divided by the density.
        V k[F::places], by_q[3], by_s[3], pairs[3], square[3], others[3];
        k[0] = m.density_deviation;
        k[13] = t;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            by_q[a] = inverse_density * q[a];
            by_s[a] = inverse_density * s[a];
        });
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            constexpr int x = F::step(a), y = F::step(b), z = F::step(c);
            if constexpr (forced) {
                k[x] = R(0.25) * m.force[a];
            }
            k[2 * x] = q[a];
            k[y + z] = s[a];
            k[x + 2 * y] = g[a][b];
            k[x + 2 * z] = g[a][c];
            square[a] = by_s[a] * s[a];
            others[a] = by_s[b] * s[c];
            pairs[a] = plus_multiple<8>(by_q[b] * q[c], square[a]);
            k[2 * y + 2 * z] = pairs[a] - e[a];
            k[2 * x + y + z] = plus_multiple<4>(by_q[a] * s[a], others[a]) + w[a];
            const V sheared = plus_multiple<4>(by_s[c] * g[b][c] + by_s[b] * g[c][b], by_s[a] * t);
            k[x + 2 * y + 2 * z] = plus_multiple<4>(by_q[b] * g[a][c] + by_q[c] * g[a][b], sheared);
        });
        const V cubes = plus_multiple<8>(by_q[1] * square[1] + by_q[2] * square[2], by_s[0] * others[0]);
        const V products = plus_multiple<8>(by_q[0] * pairs[0], cubes);
        const V fluxes = plus_multiple<8>(g[0][1] * g[0][2] + g[1][0] * g[1][2] + g[2][0] * g[2][1], t * t);
        const V sheared = by_s[0] * w[0] + by_s[1] * w[1] + by_s[2] * w[2];
        const V normal = by_q[0] * e[0] + by_q[1] * e[1] + by_q[2] * e[2];
        k[26] = plus_multiple<4>(products - normal, plus_multiple<4>(inverse_density * fluxes, sheared));
        to_frame_at_rest<S, 6, forced>(k, m);
        set_populations<S, forced>(k, sums, m, h);
    }

    /// Relaxes the third order, limited: C becomes (1 - omega') C with omega' = omega + (1 - omega) |C| / (rho lambda +
    /// |C|). The divisors of several are inverted together, as a division takes as long as ten multiplications.
    template <class S, class V, class P>
    LBM_HD static void relax_third(const MovingMoments<S, V>& n, V inverse_density, const P& p, V (&g)[3][3], V& t) {
        using R = Scalar<V>;
        const V scale = inverse_density * p.inverse_limiter;
        V kept[7], divisor[7], inverse[7];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            const V plus = n.third[a][b] + n.third[a][c], minus = n.third[a][b] - n.third[a][c];
            kept[2 * a] = p.kept_sum * plus;
            kept[2 * a + 1] = p.kept_difference * minus;
            divisor[2 * a] = R(1) + scale * magnitude(plus);
            divisor[2 * a + 1] = R(1) + scale * magnitude(minus);
        });
        kept[6] = p.kept_product * n.triple;
        divisor[6] = R(1) + scale * magnitude(n.triple);
        const V first = divisor[0] * divisor[1], second = divisor[2] * divisor[3], last = divisor[4] * divisor[5];
        const V of_four = reciprocal(first * second), of_three = reciprocal(last * divisor[6]);
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
