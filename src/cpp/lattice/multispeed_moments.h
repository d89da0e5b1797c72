// The moments of the multispeed thermal model, and its equilibrium as a polynomial in the velocities.
//
// f_eq / w is a polynomial of fourth degree in c. Its parts that are even or odd in each component are shared by the
// four velocities (+-a, +-b): 15 coefficients instead of 37 sums of Hermite polynomials, and about 700 operations per
// cell instead of several thousand.
#pragma once

#include "arithmetic.h"
#include "stencil.h"

namespace lbm {

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
    V energy;                        // sum of h c^2
    V xx, xy, yy;                    // second order
    V xxx, xxy, xyy, yyy;            // third order
    V xxxx, xxxy, xxyy, xyyy, yyyy;  // fourth order
};

/// Computes the moments of a cell's populations, the tensors up to the order `highest`: 1, 3 or 4.
template <class S, int highest, class V>
LBM_HD MultispeedSums<V> multispeed_sums(const V (&h)[S::Q]) {
    MultispeedSums<V> s{};
    s.deviation = h[0];
    const auto pair = [&]<int axis, int a>() LBM_INLINE_LAMBDA {
        using P = AxisPair<S, axis, a>;
        const V sum = h[P::plus] + h[P::minus], difference = h[P::plus] - h[P::minus];
        s.deviation = s.deviation + sum;
        s.momentum[axis] = s.momentum[axis] + scaled<a>(difference);
        s.energy = s.energy + scaled<a * a>(sum);
        if constexpr (highest >= 3) {
            V& second = axis == 0 ? s.xx : s.yy;
            V& third = axis == 0 ? s.xxx : s.yyy;
            second = second + scaled<a * a>(sum);
            third = third + scaled<a * a * a>(difference);
        }
        if constexpr (highest >= 4) {
            V& fourth = axis == 0 ? s.xxxx : s.yyyy;
            fourth = fourth + scaled<a * a * a * a>(sum);
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
        if constexpr (highest >= 3) {
            s.xx = s.xx + scaled<a * a>(sum);
            s.yy = s.yy + scaled<b * b>(sum);
            s.xy = s.xy + scaled<a * b>(same - opposed);
            s.xxx = s.xxx + scaled<a * a * a>(along_x);
            s.yyy = s.yyy + scaled<b * b * b>(along_y);
            s.xxy = s.xxy + scaled<a * a * b>(along_y);
            s.xyy = s.xyy + scaled<a * b * b>(along_x);
        }
        if constexpr (highest >= 4) {
            s.xxxx = s.xxxx + scaled<a * a * a * a>(sum);
            s.yyyy = s.yyyy + scaled<b * b * b * b>(sum);
            s.xxyy = s.xxyy + scaled<a * a * b * b>(sum);
            s.xxxy = s.xxxy + scaled<a * a * a * b>(same - opposed);
            s.xyyy = s.xyyy + scaled<a * b * b * b>(same - opposed);
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

/// The pressure rho T.
template <class S, class V>
LBM_HD V pressure_of(const Gas<V>& gas) {
    using R = Scalar<V>;
    return (R(1) + gas.deviation) * (R(1) + gas.theta) * R(S::cs2);
}

/// Moments of second and third order of a non-equilibrium part, which has none of lower order and is without a trace in
/// the second.
template <class Real>
struct Nonequilibrium {
    Real xx, xy, yy, xxx, xxy, xyy, yyy;

    /// Adds a vector's third moments v_a delta_bc + v_b delta_ac + v_c delta_ab.
    LBM_HD void add_heat(Real x, Real y) {
        xxx += Real(3) * x;
        xxy += y;
        xyy += x;
        yyy += Real(3) * y;
    }
    /// Adds the third moments of the stress that moves with a velocity.
    LBM_HD void add_carried(Real x, Real y) {
        xxx += Real(3) * (x * xx);
        xxy += Real(2) * (x * xy) + y * xx;
        xyy += Real(2) * (y * xy) + x * yy;
        yyy += Real(3) * (y * yy);
    }
};

/// Those of a cell, in the frame of the lattice.
template <class S, class V>
LBM_HD Nonequilibrium<V> nonequilibrium_of(const MultispeedSums<V>& s, const Gas<V>& gas) {
    using R = Scalar<V>;
    const V rho = R(1) + gas.deviation, x = gas.u[0], y = gas.u[1], jx = s.momentum[0], jy = s.momentum[1];
    const V pressure = pressure_of<S>(gas);
    const V rest = gas.deviation * R(S::cs2) + rho * gas.theta * R(S::cs2);  // pressure above the weights'
    return {s.xx - (jx * x + rest),
            s.xy - jx * y,
            s.yy - (jy * y + rest),
            s.xxx - x * (jx * x + R(3) * pressure),
            s.xxy - y * (jx * x + pressure),
            s.xyy - x * (jy * y + pressure),
            s.yyy - y * (jy * y + R(3) * pressure)};
}

}  // namespace lbm
