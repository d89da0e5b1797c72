// How the moments of third and fourth order relax in the multispeed thermal model.
#pragma once

#include "multispeed_moments.h"

namespace lbm {

/// Parameters of the collision, computed once by the host (collisions/thermal_bgk.h).
template <class Real>
struct MultispeedParameters {
    Real omega;          // relaxation rate 1 / tau
    Real gravity[2];     // acceleration g
    Real shift[2];       // shift of the velocity in the equilibrium, tau g
    Real theta_shift;    // shift of theta in the equilibrium, tau (1 - tau) g^2 / (2 cs2)
    Real excess;         // 1 - tau / tau_q; tau_q is the relaxation time of the heat flux
    Real third_excess;   // 1 - tau / tau_3, of the other moments of third order
    Real fourth_excess;  // 1 - tau / tau_4, of the moments of fourth order
    Real tau_q_minus_1;
    Real one_minus_tau;
    Real half_prandtl;
};

/// The relaxation times that there are beside that of the stress: none; that of the heat flux, with which all moments
/// of third order relax; or those of the heat flux, of the other moments of third order and of those of fourth.
enum class RelaxationTimes { One, HeatFlux, ThirdAndFourth };

template <class Real>
LBM_HD RelaxationTimes relaxation_times(const MultispeedParameters<Real>& p) {
    const bool both = p.third_excess != p.excess || p.fourth_excess != 0;
    return both ? RelaxationTimes::ThirdAndFourth : p.excess != 0 ? RelaxationTimes::HeatFlux : RelaxationTimes::One;
}

/// Calls visit.operator()<times>().
template <class Visit>
LBM_HD void with_relaxation_times(RelaxationTimes times, Visit&& visit) {
    switch (times) {
        case RelaxationTimes::One: return visit.template operator()<RelaxationTimes::One>();
        case RelaxationTimes::HeatFlux: return visit.template operator()<RelaxationTimes::HeatFlux>();
        case RelaxationTimes::ThirdAndFourth: return visit.template operator()<RelaxationTimes::ThirdAndFourth>();
    }
}

/// The highest order of the moments that have to be known.
constexpr int highest_order(RelaxationTimes times) {
    return times == RelaxationTimes::One ? 1 : times == RelaxationTimes::HeatFlux ? 3 : 4;
}

/// Moments of third order of populations that have none of lower order.
template <class V>
struct CubicMoments {
    V xxx, xxy, xyy, yyy;
};
/// Moments of fourth order of populations that have none of lower order.
template <class V>
struct QuarticMoments {
    V xxxx, xxxy, xxyy, xyyy, yyyy;
};

/// Adds the third-order Hermite polynomials of moments to a polynomial f / w.
template <class S, class V>
LBM_HD void add_hermite(Quartic<V>& p, const CubicMoments<V>& n) {
    using R = Scalar<V>;
    constexpr double k2 = 1 / (S::cs2 * S::cs2), k3 = k2 / S::cs2;
    p.p30 = p.p30 + R(k3 / 6) * n.xxx;
    p.p21 = p.p21 + R(k3 / 2) * n.xxy;
    p.p12 = p.p12 + R(k3 / 2) * n.xyy;
    p.p03 = p.p03 + R(k3 / 6) * n.yyy;
    p.p10 = p.p10 - R(k2 / 2) * (n.xxx + n.xyy);
    p.p01 = p.p01 - R(k2 / 2) * (n.xxy + n.yyy);
}
/// The same of fourth order.
template <class S, class V>
LBM_HD void add_hermite(Quartic<V>& p, const QuarticMoments<V>& n) {
    using R = Scalar<V>;
    constexpr double k2 = 1 / (S::cs2 * S::cs2), k3 = k2 / S::cs2, k4 = k2 * k2;
    p.p40 = p.p40 + R(k4 / 24) * n.xxxx;
    p.p31 = p.p31 + R(k4 / 6) * n.xxxy;
    p.p22 = p.p22 + R(k4 / 4) * n.xxyy;
    p.p13 = p.p13 + R(k4 / 6) * n.xyyy;
    p.p04 = p.p04 + R(k4 / 24) * n.yyyy;
    const V x = n.xxxx + n.xxyy, y = n.yyyy + n.xxyy;
    p.p20 = p.p20 - R(k3 / 4) * x;
    p.p11 = p.p11 - R(k3 / 2) * (n.xxxy + n.xyyy);
    p.p02 = p.p02 - R(k3 / 4) * y;
    p.p00 = p.p00 + R(k2 / 8) * (x + y);
}

/// The moments of third order of what is not in equilibrium, central ones, sum of f (c - u)^3, with the contribution of
/// half a step of the force. In the frame of the lattice the Prandtl number would depend on the velocity (Chen,
/// Gopalakrishnan & Zhang, Int. J. Mod. Phys. C 25 (2014) 1450046).
template <class S, class V>
LBM_HD CubicMoments<V> central_third_order(const MultispeedSums<V>& s, const Gas<V>& g,
                                           const MultispeedParameters<Scalar<V>>& k) {
    using R = Scalar<V>;
    const V rho = g.deviation + R(1);
    const V x = g.u[0] + R(0.5) * k.gravity[0], y = g.u[1] + R(0.5) * k.gravity[1];
    const V jx = s.momentum[0], jy = s.momentum[1];
    const V xx = s.xx + R(S::cs2), yy = s.yy + R(S::cs2), xy = s.xy;  // of f, not h
    const V pressure = rho * (g.theta + R(1)) * R(S::cs2);
    const V fx = R(0.5) * k.gravity[0] * pressure, fy = R(0.5) * k.gravity[1] * pressure;
    return {s.xxx - R(3) * x * xx + R(3) * x * x * jx - rho * x * x * x + R(3) * fx,
            s.xxy - R(2) * x * xy - y * xx + x * x * jy + R(2) * x * y * jx - rho * x * x * y + fy,
            s.xyy - R(2) * y * xy - x * yy + y * y * jx + R(2) * x * y * jy - rho * x * y * y + fx,
            s.yyy - R(3) * y * yy + R(3) * y * y * jy - rho * y * y * y + R(3) * fy};
}

/// The moments of fourth order of what is not in equilibrium, in Hermite polynomials of c - u at the temperature of the
/// cell.
template <class S, class V>
LBM_HD QuarticMoments<V> central_fourth_order(const MultispeedSums<V>& s, const Gas<V>& g) {
    using R = Scalar<V>;
    constexpr double cs4 = S::cs2 * S::cs2;
    const V x = g.u[0], y = g.u[1], jx = s.momentum[0], jy = s.momentum[1];
    const V xx = x * x, xy = x * y, yy = y * y;
    const V rho = R(1) + g.deviation, temperature = (R(1) + g.theta) * R(S::cs2), p = rho * temperature;
    const V rest = R(cs4) * (g.deviation + rho * g.theta * (R(2) + g.theta));  // rho T^2 above the weights'
    const Nonequilibrium<V> n = nonequilibrium_of<S>(s, g);
    // In the frame of the lattice.
    const V xxxx = s.xxxx - (jx * x * xx + R(6) * p * xx + R(3) * rest);
    const V xxxy = s.xxxy - y * (jx * xx + R(3) * p * x);
    const V xxyy = s.xxyy - (jx * x * yy + p * (xx + yy) + rest);
    const V xyyy = s.xyyy - x * (jy * yy + R(3) * p * y);
    const V yyyy = s.yyyy - (jy * y * yy + R(6) * p * yy + R(3) * rest);
    const V of_xx = xx - temperature, of_yy = yy - temperature;
    return {xxxx - R(4) * x * n.xxx + R(6) * of_xx * n.xx,
            xxxy - y * n.xxx - R(3) * (x * n.xxy - xy * n.xx - of_xx * n.xy),
            xxyy - R(2) * (y * n.xxy + x * n.xyy) + of_yy * n.xx + of_xx * n.yy + R(4) * xy * n.xy,
            xyyy - x * n.yyy - R(3) * (y * n.xyy - xy * n.yy - of_yy * n.xy),
            yyyy - R(4) * y * n.yyy + R(6) * of_yy * n.yy};
}

/// Modifies the equilibrium so that moments of third and fourth order relax with times of their own: adds 1 - tau /
/// tau_m times what is not in equilibrium of each.
///
/// The moments are those in the frame of the gas, so that a stream does not change how it relaxes (as Shan, Phys. Rev.
/// E 100 (2019) 043308). What is added of third order, A_abc, must have no fourth order in that frame: in the frame of
/// the lattice that is u_a A_bcd + u_b A_acd + u_c A_abd + u_d A_abc.
template <class S, RelaxationTimes times, class V>
LBM_HD void add_higher_orders(Quartic<V>& p, const MultispeedSums<V>& s, const Gas<V>& g,
                              const MultispeedParameters<Scalar<V>>& k) {
    using R = Scalar<V>;
    if constexpr (times == RelaxationTimes::One) {
        return;
    } else {
        CubicMoments<V> n = central_third_order<S>(s, g, k);
        if constexpr (times == RelaxationTimes::HeatFlux) {
            add_hermite<S>(p, CubicMoments<V>{k.excess * n.xxx, k.excess * n.xxy, k.excess * n.xyy, k.excess * n.yyy});
        } else {
            const R quarter = R(0.25) * (k.excess - k.third_excess);  // of the heat flux, whose moments have a trace
            const V qx = quarter * (n.xxx + n.xyy), qy = quarter * (n.xxy + n.yyy);
            n = {k.third_excess * n.xxx + R(3) * qx, k.third_excess * n.xxy + qy, k.third_excess * n.xyy + qx,
                 k.third_excess * n.yyy + R(3) * qy};
            add_hermite<S>(p, n);
            const V x = g.u[0] + R(0.5) * k.gravity[0], y = g.u[1] + R(0.5) * k.gravity[1];
            const QuarticMoments<V> m = central_fourth_order<S>(s, g);
            add_hermite<S>(p, QuarticMoments<V>{k.fourth_excess * m.xxxx + R(4) * x * n.xxx,
                                                k.fourth_excess * m.xxxy + R(3) * x * n.xxy + y * n.xxx,
                                                k.fourth_excess * m.xxyy + R(2) * (x * n.xyy + y * n.xxy),
                                                k.fourth_excess * m.xyyy + R(3) * y * n.xyy + x * n.yyy,
                                                k.fourth_excess * m.yyyy + R(4) * y * n.yyy});
        }
    }
}

}  // namespace lbm
