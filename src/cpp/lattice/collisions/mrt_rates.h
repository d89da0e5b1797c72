// Computes the relaxation rates of the MRT collision from the moment basis. For the host only: kernels need just the
// resulting rates.
#pragma once

#include "../moment_basis.h"
#include "mrt.h"

namespace lbm {

/// The operator -K of a moment basis whose non-conserved moments k relax with `rate[k]`. The rates are entries, or sums
/// of entries, of its matrix over pairs, in which the rest population and the odd parts of the axis pairs have been
/// eliminated by the conservation of mass and momentum.
template <class S>
constexpr CubicRates<double> cubic_rates(const double (&rate)[S::Q]) {
    using M = Moment<S>;
    using P = CubicPairs<S>;
    constexpr int x = 0, y = 1, z = 2;
    const auto even = [&](int to, int from) {
        double sum = 0;
        for (int k = 0; k < S::Q; ++k) {
            if (M::even(k) && !M::conserved(k)) {
                sum -= rate[k] / M::norm2(k) * M::value(k, 2 * to + 1) * (M::value(k, 2 * from + 1) - M::value(k, 0));
            }
        }
        return sum;
    };
    const auto odd = [&](int to, int from) {
        double sum = 0;
        for (int k = 0; k < S::Q; ++k) {
            if (!M::even(k) && !M::conserved(k)) {
                int seen = M::value(k, 2 * from + 1);
                for (int d = 0; d < S::D; ++d) {
                    seen -= P::c(from, d) * M::value(k, 2 * d + 1);
                }
                sum -= rate[k] / M::norm2(k) * M::value(k, 2 * to + 1) * seen;
            }
        }
        return sum;
    };

    CubicRates<double> r{};
    constexpr int edge = P::edge(0, 0), twin = P::edge(0, 1);
    r.sum[0][0] = even(x, y);
    r.deviator[0][0] = even(x, x) - even(x, y);
    if constexpr (P::edges > 0) {
        r.sum[0][1] = even(x, edge);
        r.sum[1][0] = even(edge, x);
        r.shear[0][0] = 0.5 * (even(edge, edge) - even(edge, twin));
        r.sum[1][1] = 0.5 * (even(edge, edge) + even(edge, twin));
        r.flux[0][0] = 0.5 * odd(edge, edge);
    }
    if constexpr (P::edges > 0 && S::D == 3) {
        constexpr int other = P::edge(1, 0);
        r.deviator[0][1] = even(z, edge) - even(x, edge);
        r.deviator[1][0] = even(edge, z) - even(edge, x);
        r.deviator[1][1] = r.sum[1][1] - even(edge, other);
        r.sum[1][1] = even(edge, other);
        r.flux_across = odd(edge, other);
    }
    if constexpr (P::corners > 0) {
        constexpr int first = P::corner(0), second = P::corner(1);
        r.sum[0][2] = even(x, first);
        r.sum[2][0] = even(first, x);
        r.shear[1][1] = 0.25 * (even(first, first) - even(first, second));
        r.sum[2][2] = even(first, second) + r.shear[1][1];
        r.flux[1][1] = 0.25 * (odd(first, first) + odd(first, second));
        r.triple = odd(first, first) - 3 * r.flux[1][1];
        if constexpr (P::edges > 0) {
            r.sum[1][2] = 0.5 * (even(edge, first) + even(twin, first));
            r.shear[0][1] = 0.5 * (even(edge, first) - even(twin, first));
            r.sum[2][1] = 0.5 * (even(first, edge) + even(first, twin));
            r.shear[1][0] = 0.5 * (even(first, edge) - even(first, twin));
            r.flux[0][1] = 0.5 * odd(edge, first);
            r.flux[1][0] = 0.5 * odd(first, edge);
        }
    }
    return r;
}

/// A user may replace the preset relaxation rates of groups of moments by name, except those of the first two groups:
/// the conserved moments and the shear stress.
template <class S, class Given>
MRT::Parameters<double> MRT::parameters(const Given& given) {
    using Basis = MomentBasis<S>;
    double rate[Basis::groups];
    for (int g = 0; g < Basis::groups; ++g) {
        rate[g] = Basis::group[g].preset;
    }
    given.rates(
        "rates", [](int g) { return Basis::group[g].name; }, 2, Basis::groups, rate, rate);
    MRT::Parameters<double> parameters{relaxation(given), {}, {}};
    double moment_rate[S::Q], stress_share[S::Q];
    for (int k = 0; k < S::Q; ++k) {
        const int g = Basis::group_of[k];
        const bool with_stress = Moment<S>::sets_viscosity(k) || rate[g] == follows_viscosity;
        moment_rate[k] = with_stress ? parameters.omega : rate[g];
        stress_share[k] = with_stress ? 1 : 0;
    }
    parameters.moment_rates = cubic_rates<S>(moment_rate);
    parameters.stress_rates = cubic_rates<S>(stress_share);
    return parameters;
}

}  // namespace lbm
