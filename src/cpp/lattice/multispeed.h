// The collision of the multispeed thermal model: a compressible ideal gas, p = rho T, whose single set of populations
// carries mass, momentum and energy. The equilibrium is the fourth-order Hermite expansion in density, velocity and
// temperature (Shan, Yuan & Chen, J. Fluid Mech. 550 (2006) 413).
//
// A body force shifts velocity and temperature in the equilibrium (Sbragaglia et al., J. Fluid Mech. 628 (2009) 299;
// Scagliarini et al., Phys. Fluids 22 (2010) 055101). The third-order moments relax with a separate time, which makes
// the Prandtl number a parameter. They are central moments, relative to the velocity of the cell; in the laboratory
// frame the Prandtl number would depend on the velocity (Chen, Gopalakrishnan & Zhang, Int. J. Mod. Phys. C 25 (2014)
// 1450046).
//
// f_eq / w is a polynomial of fourth degree in c. Its parts that are even or odd in each component are shared by the
// four velocities (+-a, +-b): 15 coefficients instead of 37 sums of Hermite polynomials, and about 700 operations per
// cell instead of several thousand.
#pragma once

#include "arithmetic.h"
#include "stencil.h"

namespace lbm {

/// Parameters of the collision, computed once by the host (collisions/thermal_bgk.h).
template <class Real>
struct MultispeedParameters {
    Real omega;        // relaxation rate 1 / tau
    Real gravity[2];   // acceleration g
    Real shift[2];     // shift of the velocity in the equilibrium, tau g
    Real theta_shift;  // shift of theta in the equilibrium, tau (1 - tau) g^2 / (2 cs2)
    Real excess;       // 1 - tau / tau_q; tau_q is the relaxation time of the third-order moments
    Real tau_q_minus_1;
    Real one_minus_tau;
    Real half_prandtl;
};

/// The index of velocity (x, y) in a two-dimensional stencil.
template <class S>
constexpr int velocity_index(int x, int y) {
    for (int i = 0; i < S::Q; ++i) {
        if (S::c[i][0] == x && S::c[i][1] == y) {
            return i;
        }
    }
    return -1;
}

/// Calls body.operator()<a, b>() for each set of velocities (+-a, +-b), a, b > 0.
template <class Body>
LBM_HD void for_quads(Body&& body) {
    body.template operator()<1, 1>();
    body.template operator()<2, 1>();
    body.template operator()<1, 2>();
    body.template operator()<2, 2>();
    body.template operator()<3, 1>();
    body.template operator()<1, 3>();
}

/// The indices of the velocities (+a, +b), (-a, -b), (+a, -b), (-a, +b).
template <class S, int a, int b>
struct Quad {
    static constexpr int pp = velocity_index<S>(a, b), mm = velocity_index<S>(-a, -b);
    static constexpr int pm = velocity_index<S>(a, -b), mp = velocity_index<S>(-a, b);
};

/// The indices of the velocities (+a, 0), (-a, 0) or (0, +a), (0, -a).
template <class S, int axis, int a>
struct AxisPair {
    static constexpr int plus = velocity_index<S>(axis == 0 ? a : 0, axis == 0 ? 0 : a);
    static constexpr int minus = velocity_index<S>(axis == 0 ? -a : 0, axis == 0 ? 0 : -a);
};

/// A polynomial of fourth degree in the components of c; pmn is the coefficient of cx^m cy^n.
template <class V>
struct Quartic {
    V p00, p10, p01, p20, p11, p02, p30, p21, p12, p03, p40, p31, p22, p13, p04;

    /// Evaluates the polynomial at (+a, +b), (-a, -b), (+a, -b), (-a, +b).
    template <int a, int b>
    LBM_HD void at_quad(V& pp, V& mm, V& pm, V& mp) const {
        const V even = p00 + scaled<a * a>(p20 + scaled<a * a>(p40) + scaled<b * b>(p22)) +
                       scaled<b * b>(p02 + scaled<b * b>(p04));
        const V both = scaled<a * b>(p11 + scaled<a * a>(p31) + scaled<b * b>(p13));
        const V x = scaled<a>(p10 + scaled<a * a>(p30) + scaled<b * b>(p12));
        const V y = scaled<b>(p01 + scaled<a * a>(p21) + scaled<b * b>(p03));
        const V same = even + both, opposed = even - both, sum = x + y, difference = x - y;
        pp = same + sum;
        mm = same - sum;
        pm = opposed + difference;
        mp = opposed - difference;
    }
    /// Evaluates the polynomial at (+a, 0), (-a, 0), or at the same along y.
    template <int axis, int a>
    LBM_HD void at_pair(V& plus, V& minus) const {
        const V even =
            axis == 0 ? p00 + scaled<a * a>(p20 + scaled<a * a>(p40)) : p00 + scaled<a * a>(p02 + scaled<a * a>(p04));
        const V odd = axis == 0 ? scaled<a>(p10 + scaled<a * a>(p30)) : scaled<a>(p01 + scaled<a * a>(p03));
        plus = even + odd;
        minus = even - odd;
    }
};

/// Density, velocity and temperature of a cell.
template <class V>
struct Gas {
    V deviation;  // rho - 1
    V u[2];
    V theta;  // reduced temperature T / cs2 - 1
};

/// Moments of the deviations h of populations.
template <class V>
struct MultispeedSums {
    V deviation;
    V momentum[2];
    V energy;              // sum of h c^2
    V xx, xy, yy;          // second order
    V xxx, xxy, xyy, yyy;  // third order
};

/// Computes the moments of a cell's populations; the tensors of second and third order only if `high`.
template <class S, bool high, class V>
LBM_HD MultispeedSums<V> multispeed_sums(const V (&h)[S::Q]) {
    MultispeedSums<V> s{h[0], {V{}, V{}}, V{}, V{}, V{}, V{}, V{}, V{}, V{}, V{}};
    const auto pair = [&]<int axis, int a>() LBM_INLINE_LAMBDA {
        using P = AxisPair<S, axis, a>;
        const V sum = h[P::plus] + h[P::minus], difference = h[P::plus] - h[P::minus];
        s.deviation = s.deviation + sum;
        s.momentum[axis] = s.momentum[axis] + scaled<a>(difference);
        s.energy = s.energy + scaled<a * a>(sum);
        if constexpr (high) {
            V& second = axis == 0 ? s.xx : s.yy;
            V& third = axis == 0 ? s.xxx : s.yyy;
            second = second + scaled<a * a>(sum);
            third = third + scaled<a * a * a>(difference);
        }
    };
    static_for<2>([&]<int axis>() LBM_INLINE_LAMBDA {
        static_for<S::radius>([&]<int k>() LBM_INLINE_LAMBDA { pair.template operator()<axis, k + 1>(); });
    });
    for_quads([&]<int a, int b>() LBM_INLINE_LAMBDA {
        using N = Quad<S, a, b>;
        const V same = h[N::pp] + h[N::mm], opposed = h[N::pm] + h[N::mp];
        const V same_odd = h[N::pp] - h[N::mm], opposed_odd = h[N::pm] - h[N::mp];
        const V sum = same + opposed, along_x = same_odd + opposed_odd, along_y = same_odd - opposed_odd;
        s.deviation = s.deviation + sum;
        s.momentum[0] = s.momentum[0] + scaled<a>(along_x);
        s.momentum[1] = s.momentum[1] + scaled<b>(along_y);
        s.energy = s.energy + scaled<a * a + b * b>(sum);
        if constexpr (high) {
            s.xx = s.xx + scaled<a * a>(sum);
            s.yy = s.yy + scaled<b * b>(sum);
            s.xy = s.xy + scaled<a * b>(same - opposed);
            s.xxx = s.xxx + scaled<a * a * a>(along_x);
            s.yyy = s.yyy + scaled<b * b * b>(along_y);
            s.xxy = s.xxy + scaled<a * a * b>(along_y);
            s.xyy = s.xyy + scaled<a * b * b>(along_x);
        }
    });
    return s;
}

/// Density, velocity and temperature of populations, without corrections for a force: 2 rho T = sum of f c^2 - rho u^2,
/// written in deviations from rest.
template <class S, class V>
LBM_HD Gas<V> gas_of(const MultispeedSums<V>& s) {
    using R = Scalar<V>;
    const V inverse = R(1) / (s.deviation + R(1));
    Gas<V> g{s.deviation, {s.momentum[0] * inverse, s.momentum[1] * inverse}, V{}};
    const V moving = s.momentum[0] * g.u[0] + s.momentum[1] * g.u[1];
    g.theta = (s.energy - R(2 * S::cs2) * s.deviation - moving) * inverse * R(1 / (2 * S::cs2));
    return g;
}

/// The equilibrium as the polynomial (f_eq - w) / w.
template <class S, class V>
LBM_HD Quartic<V> multispeed_equilibrium(const Gas<V>& g) {
    using R = Scalar<V>;
    constexpr double k = 1 / S::cs2;
    const V rho = g.deviation + R(1);
    const V ux = g.u[0] * R(k), uy = g.u[1] * R(k), t = g.theta, kt = t * R(k);  // u / cs2 and theta / cs2
    const V u2 = g.u[0] * ux + g.u[1] * uy;
    const V xx = ux * ux, xy = ux * uy, yy = uy * uy;
    const V linear = rho * (R(1) - R(0.5) * u2 - R(2) * t);
    const V square = rho * (R(0.5) - R(0.25) * u2 - R(1.5) * t);
    const V isotropic = rho * kt * (R(0.5) - R(0.25) * u2 - t);
    const V rho_x = rho * ux, rho_y = rho * uy, half_kt = R(0.5) * kt;
    const V rho_kt = rho * half_kt, rho_kt2 = rho_kt * kt;
    Quartic<V> p;
    p.p00 = g.deviation + rho * (t * t + u2 * (R(0.125) * u2 + t) - R(0.5) * u2 - t);
    p.p10 = ux * linear;
    p.p01 = uy * linear;
    p.p20 = isotropic + xx * square;
    p.p11 = R(2) * xy * square;
    p.p02 = isotropic + yy * square;
    p.p30 = rho_x * (R(1.0 / 6) * xx + half_kt);
    p.p21 = rho_y * (R(0.5) * xx + half_kt);
    p.p12 = rho_x * (R(0.5) * yy + half_kt);
    p.p03 = rho_y * (R(1.0 / 6) * yy + half_kt);
    const V quarter = R(0.25) * rho_kt2, mixed = R(0.5) * rho_kt;
    p.p40 = xx * (R(1.0 / 24) * (rho * xx) + mixed) + quarter;
    p.p04 = yy * (R(1.0 / 24) * (rho * yy) + mixed) + quarter;
    p.p22 = R(0.25) * (rho * (xx * yy)) + mixed * (xx + yy) + R(2) * quarter;
    p.p31 = xy * (R(1.0 / 6) * (rho * xx) + rho_kt);
    p.p13 = xy * (R(1.0 / 6) * (rho * yy) + rho_kt);
    return p;
}

/// Adds the third-order Hermite polynomials of the moments sum of n c c c to a polynomial f / w; n has no lower
/// moments.
template <class S, class V>
LBM_HD void add_cubic(Quartic<V>& p, V xxx, V xxy, V xyy, V yyy) {
    using R = Scalar<V>;
    constexpr double k2 = 1 / (S::cs2 * S::cs2), k3 = k2 / S::cs2;
    p.p30 = p.p30 + R(k3 / 6) * xxx;
    p.p21 = p.p21 + R(k3 / 2) * xxy;
    p.p12 = p.p12 + R(k3 / 2) * xyy;
    p.p03 = p.p03 + R(k3 / 6) * yyy;
    p.p10 = p.p10 - R(k2 / 2) * (xxx + xyy);
    p.p01 = p.p01 - R(k2 / 2) * (xxy + yyy);
}

/// Modifies the equilibrium so that the third-order moments relax with their own time: adds `excess` times their
/// non-equilibrium part, the central moments sum of f (c - u)^3 with the contribution of half a step of the force.
template <class S, class V>
LBM_HD void add_third_order(Quartic<V>& p, const MultispeedSums<V>& s, const Gas<V>& g,
                            const MultispeedParameters<Scalar<V>>& k) {
    using R = Scalar<V>;
    const V rho = g.deviation + R(1);
    const V x = g.u[0] + R(0.5) * k.gravity[0], y = g.u[1] + R(0.5) * k.gravity[1];
    const V jx = s.momentum[0], jy = s.momentum[1];
    const V xx = s.xx + R(S::cs2), yy = s.yy + R(S::cs2), xy = s.xy;  // of f, not h
    const V pressure = rho * (g.theta + R(1)) * R(S::cs2);
    const V fx = R(0.5) * k.gravity[0] * pressure, fy = R(0.5) * k.gravity[1] * pressure;
    const V nxxx = s.xxx - R(3) * x * xx + R(3) * x * x * jx - rho * x * x * x + R(3) * fx;
    const V nyyy = s.yyy - R(3) * y * yy + R(3) * y * y * jy - rho * y * y * y + R(3) * fy;
    const V nxxy = s.xxy - R(2) * x * xy - y * xx + x * x * jy + R(2) * x * y * jx - rho * x * x * y + fy;
    const V nxyy = s.xyy - R(2) * y * xy - x * yy + y * y * jx + R(2) * x * y * jy - rho * x * y * y + fx;
    add_cubic<S>(p, k.excess * nxxx, k.excess * nxxy, k.excess * nxyy, k.excess * nyyy);
}

/// Collides the deviations h of a cell's populations. Mass, momentum and energy change by exactly what the force gives.
/// Rounded weights would otherwise add a little at each step, always in the same direction: the rest population
/// compensates that of the mass, the velocities of length 1 those of momentum and energy.
template <class S, bool variable_prandtl, class V, class Real>
LBM_HD void collide_multispeed(V (&h)[S::Q], const MultispeedParameters<Real>& k) {
    const MultispeedSums<V> sums = multispeed_sums<S, variable_prandtl>(h);
    Gas<V> gas = gas_of<S>(sums);
    const V rho = gas.deviation + Real(1);
    Gas<V> shifted = gas;
    shifted.u[0] = gas.u[0] + k.shift[0];
    shifted.u[1] = gas.u[1] + k.shift[1];
    shifted.theta = gas.theta + k.theta_shift;
    Quartic<V> p = multispeed_equilibrium<S>(shifted);
    if constexpr (variable_prandtl) {
        add_third_order<S>(p, sums, gas, k);
    }
    // The remaining changes of the rest population, and of momentum and energy for the velocities of length 1.
    V rest = V{}, left[2] = {rho * k.gravity[0], rho * k.gravity[1]};
    V energy = Real(2) * (sums.momentum[0] * k.gravity[0] + sums.momentum[1] * k.gravity[1]) +
               rho * (k.gravity[0] * k.gravity[0] + k.gravity[1] * k.gravity[1]);
    const auto change = [&](V h_i, V p_i, Real w) LBM_INLINE_LAMBDA { return k.omega * (w * p_i - h_i); };
    for_quads([&]<int a, int b>() LBM_INLINE_LAMBDA {
        using N = Quad<S, a, b>;
        constexpr Real w = Real(Stencil<S>::w(N::pp));
        V pp, mm, pm, mp;
        p.template at_quad<a, b>(pp, mm, pm, mp);
        pp = change(h[N::pp], pp, w);
        mm = change(h[N::mm], mm, w);
        pm = change(h[N::pm], pm, w);
        mp = change(h[N::mp], mp, w);
        h[N::pp] = h[N::pp] + pp;
        h[N::mm] = h[N::mm] + mm;
        h[N::pm] = h[N::pm] + pm;
        h[N::mp] = h[N::mp] + mp;
        const V same = pp - mm, opposed = pm - mp, sum = (pp + mm) + (pm + mp);
        rest = rest - sum;
        energy = energy - scaled<a * a + b * b>(sum);
        left[0] = left[0] - scaled<a>(same + opposed);
        left[1] = left[1] - scaled<b>(same - opposed);
    });
    V even[2];
    static_for<2>([&]<int axis>() LBM_INLINE_LAMBDA {
        static_for<S::radius - 1>([&]<int m>() LBM_INLINE_LAMBDA {
            constexpr int a = m + 2;
            using N = AxisPair<S, axis, a>;
            constexpr Real w = Real(Stencil<S>::w(N::plus));
            V plus, minus;
            p.template at_pair<axis, a>(plus, minus);
            plus = change(h[N::plus], plus, w);
            minus = change(h[N::minus], minus, w);
            h[N::plus] = h[N::plus] + plus;
            h[N::minus] = h[N::minus] + minus;
            const V sum = plus + minus;
            rest = rest - sum;
            energy = energy - scaled<a * a>(sum);
            left[axis] = left[axis] - scaled<a>(plus - minus);
        });
        using N = AxisPair<S, axis, 1>;
        constexpr Real w = Real(Stencil<S>::w(N::plus));
        V plus, minus;
        p.template at_pair<axis, 1>(plus, minus);
        even[axis] = change(h[N::plus] + h[N::minus], plus + minus, w);
    });
    const V correction = Real(0.5) * (energy - (even[0] + even[1]));
    static_for<2>([&]<int axis>() LBM_INLINE_LAMBDA {
        using N = AxisPair<S, axis, 1>;
        const V sum = even[axis] + correction;
        h[N::plus] = h[N::plus] + Real(0.5) * (sum + left[axis]);
        h[N::minus] = h[N::minus] + Real(0.5) * (sum - left[axis]);
        rest = rest - sum;
    });
    h[0] = h[0] + rest;
}

/// Updates one cell: load(h) reads the incoming populations, store(h) writes the
/// post-collision ones. `variable_prandtl` gives the third-order moments a relaxation time of their own.
///
/// In float64 it moves 592 bytes per cell and does about 700 floating-point operations, 880 with `variable_prandtl`.
template <class S, bool variable_prandtl, class Cell, class Real>
LBM_HD void update_multispeed_cell(Cell& cell, const MultispeedParameters<Real>& parameters) {
    typename Cell::Value h[S::Q];
    cell.load(h);
    collide_multispeed<S, variable_prandtl>(h, parameters);
    cell.store(h);
}

}  // namespace lbm
