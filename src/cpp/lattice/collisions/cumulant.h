// Cumulant collision of D3Q27 (Geier, Schoenherr, Pasquali & Krafczyk, Comput. Math. Appl. 70 (2015) 507), with the
// parametrisation that makes diffusion fourth-order accurate (Geier, Pasquali & Schoenherr, J. Comput. Phys. 348 (2017)
// 862).
//
// Cumulants of order four and above relax at the rate 1, so their values before the collision are not needed: moments
// up to the third order are summed from the pairs and shifted to the frame of the fluid, and the collision builds the
// 27 central moments anew. These become populations axis by axis, in place. The populations of the cell change by the
// difference, which can be made to keep mass and momentum exactly.
//
// Populations and even central moments are deviations from those of the weights, a fluid at rest with density 1, in
// units of `m.unit`. The part of a central moment that is due to an equilibrium, such as rho / 3, is never formed: only
// rho - 1 and the non-equilibrium parts are, so no digits cancel.
//
// A force shifts the distribution in the space of velocities. One half of the shift comes before the relaxation and one
// after: in the frame of the velocity m.velocity, each adds F_x / 2 to the moment of order (1, 0, 0), F_x / 6 to those
// of (1, 2, 0) and (1, 0, 2), and F_x / 18 to that of (1, 2, 2). This is f* = f + S - K n as in collide.h, with a
// source S that is Galilean invariant.
#pragma once

#include "../collide.h"
#include "../stencils/d3q27.h"

namespace lbm {

namespace detail {

/// Central moments, indexed by their order along each axis, which become populations: 0, 1 and 2 then stand for the
/// velocity components 0, +1 and -1.
template <class V>
struct CentralMoments27 {
    V at[3][3][3];

    /// Converts the moments along all lines of one axis. A line holds deviations from the moments `rest`, 0, `rest` / 3
    /// of the weights. The results for the components +1 and -1 are twice the populations.
    template <int axis, class Rest>
    LBM_HD void convert(V u, Rest&& rest) {
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<3>([&]<int b>() LBM_INLINE_LAMBDA {
                V& k0 = axis == 0 ? at[0][a][b] : axis == 1 ? at[a][0][b] : at[a][b][0];
                V& k1 = axis == 0 ? at[1][a][b] : axis == 1 ? at[a][1][b] : at[a][b][1];
                V& k2 = axis == 0 ? at[2][a][b] : axis == 1 ? at[a][2][b] : at[a][b][2];
                const V momentum = k1 + u * rest.template operator()<a, b>(k0);
                const V energy = k2 + u * (k1 + momentum);
                k0 = k0 - energy;
                k1 = energy + momentum;
                k2 = energy - momentum;
            });
        });
    }
};

}  // namespace detail

struct Cumulant : FlowCollision {
    static constexpr const char* name = "cumulant";

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

    template <class S, class V, class P, class Coupling>
    LBM_HD static void collide(V (&h)[S::Q], const PairSums<S, V>& sums, const Moments<S, V>& m, bool forced,
                               const P& p, const Coupling&) {
        using R = Scalar<V>;
        constexpr R third = R(1.0 / 3);
        const V(&u)[3] = m.velocity;
        const V(&F)[3] = m.force;

        // Raw moments of order 2 and 3: of c_a c_b and of c_a c_b^2, and that of c_x c_y c_z.
        V stress[3][3], cubic[3][3], triple = V{};
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<3>([&]<int b>() LBM_INLINE_LAMBDA {
                stress[a][b] = cubic[a][b] = V{};
                static_for<Stencil<S>::pairs>([&]<int k>() LBM_INLINE_LAMBDA {
                    constexpr int i = 2 * k + 1;
                    if constexpr (a <= b) {
                        accumulate<S::c[i][a] * S::c[i][b]>(stress[a][b], sums.even[k]);
                    }
                    if constexpr (a != b) {
                        accumulate<S::c[i][a] * S::c[i][b] * S::c[i][b]>(cubic[a][b], sums.odd[k]);
                    }
                });
            });
        });
        static_for<Stencil<S>::pairs>([&]<int k>() LBM_INLINE_LAMBDA {
            accumulate<S::c[2 * k + 1][0] * S::c[2 * k + 1][1] * S::c[2 * k + 1][2]>(triple, sums.odd[k]);
        });

        // Cumulants: of order 2 less rho / 3 on the diagonal, and of order 3, after the first half of the force.
        const V pressure = third * m.density_deviation;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<3>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a <= b) {
                    stress[a][b] = stress[a][b] - u[a] * m.momentum[b];
                    if constexpr (a == b) {
                        stress[a][a] = stress[a][a] - pressure;
                    }
                    if (forced) {
                        stress[a][b] = stress[a][b] + R(0.5) * (u[a] * F[b] + u[b] * F[a]);
                    }
                }
            });
        });
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            static_for<3>([&]<int b>() LBM_INLINE_LAMBDA {
                if constexpr (a != b) {
                    const V of_both = u[b] * stress[a < b ? a : b][a < b ? b : a];
                    V moment = cubic[a][b] - m.momentum[a] * (third + u[b] * u[b]);
                    moment = moment - u[a] * stress[b][b] - (of_both + of_both);
                    if (forced) {
                        moment = moment + (u[b] * (u[a] * F[b] + R(0.5) * (u[b] * F[a])) + R(1.0 / 6) * F[a]);
                    }
                    cubic[a][b] = moment;
                }
            });
        });
        triple = triple - u[0] * stress[1][2] - u[1] * stress[0][2] - u[2] * (stress[0][1] + u[0] * m.momentum[1]);
        if (forced) {
            triple = triple + R(0.5) * (u[0] * u[1] * F[2] + u[0] * u[2] * F[1] + u[1] * u[2] * F[0]);
        }

        const V omega =
            stress_relaxation_rate(p, m.density, m.unit, [&]() LBM_INLINE_LAMBDA { return tensor_norm2(stress); });

        // Relaxation of the second order with the corrections for Galilean invariance; rho du_a/dx_a is `slope`.
        const V inverse_density = m.unit / m.density;
        const V trace = stress[0][0] + stress[1][1] + stress[2][2];
        V slope[3], correction[3];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            slope[a] = R(-0.5) * (omega * (R(3) * stress[a][a] - trace) + p.omega_bulk * trace);
            correction[a] = R(3) * (u[a] * u[a]) * slope[a];
        });
        const V kept = R(1) - omega, viscous = R(1) - R(0.5) * omega;
        const auto difference = [&](int a, int b) LBM_INLINE_LAMBDA {
            return kept * (stress[a][a] - stress[b][b]) - viscous * (correction[a] - correction[b]);
        };
        const V to_y = difference(0, 1), to_z = difference(0, 2);
        const V new_trace = (R(1) - p.omega_bulk) * trace -
                            (R(1) - R(0.5) * p.omega_bulk) * (correction[0] + correction[1] + correction[2]);
        const V shear[3] = {stress[1][2], stress[0][2], stress[0][1]};  // before the collision, by the axis left out
        V q[3], s[3];                                                   // after it
        q[0] = third * (new_trace + to_y + to_z);
        q[1] = q[0] - to_y;
        q[2] = q[0] - to_z;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA { s[a] = kept * shear[a]; });

        // Third order, limited: (1 - omega') C with omega' = omega + (1 - omega) |C| / (rho lambda + |C|).
        const V scale = inverse_density * p.inverse_limiter;
        const auto limited = [&](V cumulant, R kept_part) LBM_INLINE_LAMBDA {
            return kept_part * cumulant / (R(1) + scale * magnitude(cumulant));
        };
        V g[3][3];  // C_abb
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            const V plus = limited(cubic[a][b] + cubic[a][c], R(0.5) * p.kept_sum);
            const V minus = limited(cubic[a][b] - cubic[a][c], R(0.5) * p.kept_difference);
            g[a][b] = plus + minus;
            g[a][c] = plus - minus;
        });
        const V t = limited(triple, p.kept_product);

        // Fourth order: e[a] is C_bbcc and w[a] is C_aabc, of the axes b and c that are not a.
        V e[3], w[3];
        const V rate = p.mixed * omega;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            e[a] = -p.diagonal * (slope[b] + slope[c]);
            w[a] = rate * shear[a];
        });

        // Central moments from cumulants, order by order; `six` gathers that of order (2, 2, 2).
        detail::CentralMoments27<V> k;
        const V sum_of_q = q[0] + q[1] + q[2];
        k.at[0][0][0] = m.density_deviation;
        k.at[2][0][0] = pressure + q[0];
        k.at[0][2][0] = pressure + q[1];
        k.at[0][0][2] = pressure + q[2];
        k.at[0][1][1] = s[0];
        k.at[1][0][1] = s[1];
        k.at[1][1][0] = s[2];
        k.at[1][1][1] = t;
        V pairs[3], fourth[3], fifth[3];
        const V ninth = third * pressure;
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            pairs[a] = q[b] * q[c] + R(2) * (s[a] * s[a]);
            fourth[a] = ninth + third * (q[b] + q[c]) + inverse_density * pairs[a] + e[a];
            w[a] = w[a] + third * s[a] + inverse_density * (q[a] * s[a] + R(2) * (s[b] * s[c]));
            const V products =
                q[b] * g[a][c] + q[c] * g[a][b] + R(2) * (R(2) * (s[a] * t) + s[c] * g[b][c] + s[b] * g[c][b]);
            fifth[a] = third * (g[a][b] + g[a][c]) + inverse_density * products;
        });
        V by_density = third * (pairs[0] + pairs[1] + pairs[2]) + R(4) * (t * t) +
                       R(2) * (g[0][1] * g[0][2] + g[1][0] * g[1][2] + g[2][0] * g[2][1]);
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            by_density = by_density + q[a] * e[a] + R(4) * (rate * (s[a] * shear[a]));
        });
        const V cubes =
            q[0] * pairs[0] + R(2) * (q[1] * (s[1] * s[1]) + q[2] * (s[2] * s[2])) + R(8) * (s[0] * s[1] * s[2]);
        const V six = third * (ninth + third * sum_of_q + (e[0] + e[1] + e[2])) +
                      inverse_density * (by_density + inverse_density * cubes);
        k.at[0][2][2] = fourth[0];
        k.at[2][0][2] = fourth[1];
        k.at[2][2][0] = fourth[2];
        k.at[2][1][1] = w[0];
        k.at[1][2][1] = w[1];
        k.at[1][1][2] = w[2];
        k.at[2][2][2] = six;

        // The second half of the force.
        V first[3];
        static_for<3>([&]<int a>() LBM_INLINE_LAMBDA {
            constexpr int b = a == 0 ? 1 : 0, c = a == 2 ? 1 : 2;
            first[a] = V{};
            if (forced) {
                first[a] = R(0.5) * F[a];
                const V sixth = third * first[a];
                g[a][b] = g[a][b] + sixth;
                g[a][c] = g[a][c] + sixth;
                fifth[a] = fifth[a] + third * sixth;
            }
        });
        k.at[1][0][0] = first[0];
        k.at[0][1][0] = first[1];
        k.at[0][0][1] = first[2];
        k.at[1][2][0] = g[0][1];
        k.at[1][0][2] = g[0][2];
        k.at[2][1][0] = g[1][0];
        k.at[0][1][2] = g[1][2];
        k.at[2][0][1] = g[2][0];
        k.at[0][2][1] = g[2][1];
        k.at[1][2][2] = fifth[0];
        k.at[2][1][2] = fifth[1];
        k.at[2][2][1] = fifth[2];

        const R inverse_unit = R(1) / m.unit;
        constexpr auto weight = [](int index) { return index == 0 ? 2.0 / 3 : 1.0 / 3; };  // of both +1 and -1 together
        constexpr auto moment = [](int order) { return order == 0 ? 1.0 : order == 1 ? 0.0 : 1.0 / 3; };
        k.template convert<2>(u[2], [&]<int a, int b>(V mass) LBM_INLINE_LAMBDA {
            constexpr double rest = moment(a) * moment(b);
            if constexpr (rest > 0) {
                return mass + R(rest) * inverse_unit;
            } else {
                return mass;
            }
        });
        k.template convert<1>(u[1], [&]<int a, int c>(V mass) LBM_INLINE_LAMBDA {
            constexpr double rest = moment(a) * weight(c);
            if constexpr (rest > 0) {
                return mass + R(rest) * inverse_unit;
            } else {
                return mass;
            }
        });
        k.template convert<0>(u[0], [&]<int b, int c>(V mass) LBM_INLINE_LAMBDA {
            constexpr double rest = weight(b) * weight(c);
            return mass + R(rest) * inverse_unit;
        });
        PairChange<S, V> change;
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            constexpr auto index = [](int c) { return c < 0 ? 2 : c; };
            constexpr int i = 2 * p + 1, doubled = Stencil<S>::squared_speed(i);
            constexpr R factor = R(doubled == 1 ? 0.25 : doubled == 2 ? 0.125 : 0.0625);  // half of each population
            const V ahead = k.at[index(S::c[i][0])][index(S::c[i][1])][index(S::c[i][2])];
            const V behind = k.at[index(-S::c[i][0])][index(-S::c[i][1])][index(-S::c[i][2])];
            change.even[p] = factor * (ahead + behind) - R(0.5) * sums.even[p];
            change.odd[p] = factor * (ahead - behind) - R(0.5) * sums.odd[p];
        });
        enforce_conservation<S>(change, first);
        apply<S>(change, h);
    }
};

}  // namespace lbm
