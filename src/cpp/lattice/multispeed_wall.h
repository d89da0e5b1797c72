// Walls of the multispeed thermal model. Behind a wall lie columns of three halo cells, each the mirror image of a
// fluid cell in front of the wall; the wall is halfway between the first fluid cell and the first halo cell.
//
// A halo cell holds an equilibrium plus a regularised non-equilibrium part. Both continue the gas across the wall, to
// second order in the distance: what is odd there changes its sign, what is even does not. At a wall at rest the
// tangential velocity is odd, and the normal one, which has no first derivative there, even. The temperature less the
// wall's is odd at an isothermal wall but for its second derivative, which the wall's own temperatures and the friction
// set, and even at an adiabatic one. The density is that of hydrostatic balance with gravity.
//
// The non-equilibrium part has the stress of the mirror cell, of which the normal part is odd, and its heat flux, as
// far as the wall lets it through. Higher moments are left out: with them gases of low viscosity become unstable at
// walls. But the moments of fifth order that a gradient of temperature makes in a gas whose temperature is not that of
// the stencil are put in from the gradient: without them the temperature has ripples beside walls.
//
// The populations that enter the fluid are then corrected so that each column gains the mass that it has lost, and at
// an adiabatic wall the energy too: a closed box keeps its mass to rounding.
//
// Behind a corner of two walls lie 3 x 3 halo cells. Each is the image of a cell before both walls by both mirrors, one
// after the other: the velocity is turned twice, and so is the temperature between two isothermal walls. What passes
// both walls in a step belongs to the corner and to none of the columns, and is corrected there.
#pragma once

#include "multispeed.h"

namespace lbm {

constexpr int wall_depth = 3;  // halo cells behind a wall, the radius of the stencil

/// A wall between a column of fluid cells and one of halo cells.
struct MultispeedWall {
    int axis;     // of the wall's normal
    int outward;  // +1 or -1: direction along that axis from the fluid to the halo
    bool isothermal;
    double theta;         // reduced temperature theta = T / cs2 - 1 of an isothermal wall
    double gradient;      // derivative of theta along the wall
    double curvature;     // second derivative of theta along the wall
    int below, above;     // columns up to the walls at both ends, at most wall_depth; that many without such a wall
    bool corner_heat[2];  // whether heat through the corner at the end below, and above, is of this wall

    /// Whether a population of velocity (cx, cy) stays between the walls at both ends of this one.
    LBM_HD bool stays(int cx, int cy) const {
        const int along = axis == 0 ? cy : cx;
        return along >= -below && along <= above;
    }
};

/// A corner of two walls, one across each axis.
struct MultispeedCorner {
    int outward[2];      // +1 or -1, by axis
    bool isothermal[2];  // by axis

    /// Whether the corner lets heat through: between two isothermal walls it does not, so that of two temperatures none
    /// has to be chosen.
    LBM_HD bool is_mixed() const { return isothermal[0] != isothermal[1]; }
    /// Whether a population that leaves the k-th and m-th cell before the walls passes both of them.
    LBM_HD bool leaves(int cx, int cy, int k, int m) const { return outward[0] * cx >= k && outward[1] * cy >= m; }
};

/// Mass and twice the energy: the sums of f and of f c^2.
template <class Real>
struct MassAndEnergy {
    Real mass, energy;
};

/// Evaluates the populations' deviations h_i = w_i p(c_i) of a polynomial p.
template <class S, class Real>
LBM_HD void weighted(const Quartic<Real>& p, Real (&h)[S::Q]) {
    h[0] = Real(Stencil<S>::w(0)) * p.p00;
    const auto pair = [&]<int axis, int a>() LBM_INLINE_LAMBDA {
        using N = AxisPair<S, axis, a>;
        constexpr Real w = Real(Stencil<S>::w(N::plus));
        p.template at_pair<axis, a>(h[N::plus], h[N::minus]);
        h[N::plus] *= w;
        h[N::minus] *= w;
    };
    static_for<2>([&]<int axis>() LBM_INLINE_LAMBDA {
        static_for<S::radius>([&]<int m>() LBM_INLINE_LAMBDA { pair.template operator()<axis, m + 1>(); });
    });
    for_quads([&]<int a, int b>() LBM_INLINE_LAMBDA {
        using N = Quad<S, a, b>;
        constexpr Real w = Real(Stencil<S>::w(N::pp));
        p.template at_quad<a, b>(h[N::pp], h[N::mm], h[N::pm], h[N::mp]);
        h[N::pp] *= w;
        h[N::mm] *= w;
        h[N::pm] *= w;
        h[N::mp] *= w;
    });
}

/// Sets the density of a halo cell to that of hydrostatic balance with its mirror cell; `weight` is gravity times the
/// distance between both. The pressure grows by (1 + a) / (1 - a), a being `weight` over the sum of both temperatures.
template <class S, class Real>
LBM_HD void balance(Gas<Real>& gas, const Gas<Real>& mirror, Real weight) {
    const Real a = weight * Real(1 / S::cs2) / (Real(2) + gas.theta + mirror.theta);
    const Real growth =
        (mirror.theta - gas.theta + weight * Real(1 / S::cs2)) / ((Real(1) + gas.theta) * (Real(1) - a));
    gas.deviation = mirror.deviation + (Real(1) + mirror.deviation) * growth;
}

/// The reduced temperature whose mean with that of the mirror cell is the isothermal wall's between two steps.
template <class S, class Real>
LBM_HD Real theta_beyond(double theta, const Gas<Real>& mirror, const Real (&g)[2]) {
    return Real(2 * theta) - mirror.theta - Real(0.25 / S::cs2) * (g[0] * g[0] + g[1] * g[1]);
}

/// How the gas of a column changes with the distance y from its wall.
template <class Real>
struct WallProfile {
    Real normal;  // a of the normal velocity a y^2
    Real theta;   // derivative of theta at an isothermal wall
    Real shear;   // derivative of the tangential velocity
};

/// The profile by the cells of a column, counted from the wall: a least-squares fit of the normal velocity to all, the
/// parabola of the temperature through the wall and two of them, the tangential velocity of the first.
template <class S, class Real>
LBM_HD WallProfile<Real> profile_of(const MultispeedWall& wall, const Gas<Real> (&column)[wall_depth],
                                    const Real (&g)[2]) {
    constexpr double y2[wall_depth] = {0.25, 2.25, 6.25}, fourth = 0.0625 + 5.0625 + 39.0625;  // y^2 and sum of y^4
    Real normal = Real(0);
    for (int k = 0; k < wall_depth; ++k) {
        normal += Real(y2[k] / fourth) * (column[k].u[wall.axis] - Real(0.5) * g[wall.axis]);
    }
    const Real rise = Real(0.125 / S::cs2) * (g[0] * g[0] + g[1] * g[1]) - Real(wall.theta);
    return {normal, Real(3) * (column[0].theta + rise) - Real(1.0 / 3) * (column[1].theta + rise),
            Real(2) * (column[0].u[1 - wall.axis] - Real(0.5) * g[1 - wall.axis])};
}

/// Density, velocity and temperature of the halo cell k, counted from 1 at the wall, for those of its mirror cell. The
/// second derivative of the temperature across an isothermal wall is that along it with the other sign, as heat neither
/// comes nor goes there but by conduction, less what the friction heats, Pr / c_p times the square of the shear.
template <class S, class Real>
LBM_HD Gas<Real> halo_gas(const MultispeedWall& wall, int k, const Gas<Real>& mirror, const WallProfile<Real>& profile,
                          const MultispeedParameters<Real>& parameters) {
    const Real(&g)[2] = parameters.gravity;
    const Real y2 = Real((k - 0.5) * (k - 0.5));
    const Real weight = g[wall.axis] * Real(wall.outward * (2 * k - 1));  // gravity times distance to the mirror
    Gas<Real> gas;
    gas.u[0] = g[0] - mirror.u[0];
    gas.u[1] = g[1] - mirror.u[1];
    gas.u[wall.axis] += Real(2) * profile.normal * y2;
    gas.theta = mirror.theta;
    if (wall.isothermal) {
        const Real friction = parameters.half_prandtl * Real(1 / S::cs2) * (profile.shear * profile.shear);
        gas.theta = theta_beyond<S>(wall.theta, mirror, g) - y2 * (Real(wall.curvature) + friction);
    }
    balance<S>(gas, mirror, weight);
    return gas;
}

/// Adds a non-equilibrium part to an equilibrium.
template <class S, class Real>
LBM_HD void add_nonequilibrium(Quartic<Real>& p, const Nonequilibrium<Real>& n) {
    constexpr double k = 1 / S::cs2;
    p.p00 -= Real(k / 2) * (n.xx + n.yy);
    p.p20 += Real(k * k / 2) * n.xx;
    p.p11 += Real(k * k) * n.xy;
    p.p02 += Real(k * k / 2) * n.yy;
    add_hermite<S>(p, CubicMoments<Real>{n.xxx, n.xxy, n.xyy, n.yyy});
}

/// The non-equilibrium part behind a wall, for that of the mirror cell. The shear stress stays, and the normal stress,
/// which is 0 at a wall at rest, is reversed. Of the third moments in the frame of the gas the heat flux along an
/// isothermal wall is reversed, so that at the wall just the conduction by the wall's own temperature gradient remains,
/// and the one across it changes as the second derivative of the temperature tells; at an adiabatic wall the flux
/// across it is reversed, so that none passes. What of them has no trace stays.
template <class S, class Real>
LBM_HD Nonequilibrium<Real> nonequilibrium_behind(const MultispeedWall& wall, int k, const Gas<Real>& mirror,
                                                  const Gas<Real>& halo, Nonequilibrium<Real> n,
                                                  const MultispeedParameters<Real>& parameters) {
    n.add_carried(-mirror.u[0], -mirror.u[1]);
    const bool reverses_x = (wall.axis == 0) != wall.isothermal;
    Real heat[2] = {Real(0), Real(0)};
    heat[reverses_x ? 0 : 1] = Real(-0.5) * (reverses_x ? n.xxx + n.xyy : n.xxy + n.yyy);
    if (wall.isothermal) {
        const Real conduction = parameters.tau_q_minus_1 * pressure_of<S>(mirror);
        heat[1 - wall.axis] += conduction * Real(-2 * S::cs2 * wall.gradient);
        heat[wall.axis] += conduction * Real(S::cs2 * (wall.outward * (2 * k - 1)) * wall.curvature);
    }
    n.xx = -n.xx;
    n.yy = -n.yy;
    n.add_carried(halo.u[0], halo.u[1]);
    n.add_heat(heat[0], heat[1]);
    return n;
}

/// Adds to populations behind an isothermal wall what of fifth order the gradient of temperature makes:
/// -(tau - 1) w rho theta (2 + theta) / (1 + theta) (c . grad theta) (xi^4 - 12 xi^2 + 24) / 8, xi = c / c_s. It is
/// what of the derivative of the equilibrium at constant pressure is beyond the polynomials of third order.
template <class S, class Real>
LBM_HD void add_fifth_order(const MultispeedWall& wall, const Gas<Real>& gas, const WallProfile<Real>& profile,
                            const MultispeedParameters<Real>& parameters, Real (&out)[S::Q]) {
    const Real factor = parameters.one_minus_tau * (Real(1) + gas.deviation) * gas.theta * (Real(2) + gas.theta) /
                        (Real(1) + gas.theta);
    const Real normal = factor * (Real(-wall.outward) * profile.theta), tangential = factor * Real(wall.gradient);
    const Real x = wall.axis == 0 ? normal : tangential, y = wall.axis == 0 ? tangential : normal;
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int cx = S::c[i][0], cy = S::c[i][1];
        constexpr double xi2 = (cx * cx + cy * cy) / S::cs2;
        constexpr double w = Stencil<S>::w(i) * (xi2 * xi2 - 12 * xi2 + 24) / 8;
        out[i] += Real(w) * (scaled<cx>(x) + scaled<cy>(y));
    });
}

/// Computes the populations `out` of halo cell k from the populations h of its mirror cell. Returns the mass and energy
/// that leave the fluid from the mirror cell, less those that enter it from this halo cell.
template <class S, class Real>
LBM_HD MassAndEnergy<Real> halo_populations(const MultispeedWall& wall, int k, const WallProfile<Real>& profile,
                                            const Real (&h)[S::Q], const MultispeedParameters<Real>& parameters,
                                            Real (&out)[S::Q]) {
    const MultispeedSums<Real> sums = multispeed_sums<S, 3>(h);
    const Gas<Real> mirror = gas_of<S>(sums);
    const Gas<Real> gas = halo_gas<S>(wall, k, mirror, profile, parameters);
    Quartic<Real> p = multispeed_equilibrium<S>(gas);
    add_nonequilibrium<S>(
        p, nonequilibrium_behind<S>(wall, k, mirror, gas, nonequilibrium_of<S>(sums, mirror), parameters));
    weighted<S>(p, out);
    if (wall.isothermal) {
        add_fifth_order<S>(wall, gas, profile, parameters, out);
    }
    MassAndEnergy<Real> missing{0, 0};
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int cx = S::c[i][0], cy = S::c[i][1], speed2 = cx * cx + cy * cy;
        const int along = wall.outward * (wall.axis == 0 ? cx : cy);
        const Real change = !wall.stays(cx, cy) ? Real(0) : along >= k ? h[i] : -along >= k ? -out[i] : Real(0);
        missing.mass += change;
        missing.energy += scaled<speed2>(change);
    });
    return missing;
}

/// The sums of w, w c^2 and w c^4 over the populations that enter the fluid from halo cells; a velocity counts once for
/// each halo cell from which it does.
struct EnteringSums {
    double s0 = 0, s1 = 0, s2 = 0;

    LBM_HD constexpr void add(int times, double w, int speed2) {
        s0 += times * w;
        s1 += times * w * speed2;
        s2 += times * w * speed2 * speed2;
    }
};

/// Those of a column that is far from other walls.
template <class S>
constexpr EnteringSums column_sums() {
    EnteringSums sums;
    for (int i = 0; i < S::Q; ++i) {
        const int cx = S::c[i][0], cy = S::c[i][1];
        sums.add(cx > 0 ? cx : 0, Stencil<S>::w(i), cx * cx + cy * cy);
    }
    return sums;
}

/// Those of a corner.
template <class S>
constexpr EnteringSums corner_sums() {
    EnteringSums sums;
    for (int i = 0; i < S::Q; ++i) {
        const int cx = S::c[i][0], cy = S::c[i][1];
        sums.add(cx > 0 && cy > 0 ? cx * cy : 0, Stencil<S>::w(i), cx * cx + cy * cy);
    }
    return sums;
}

template <class S>
LBM_HD EnteringSums column_sums(const MultispeedWall& wall) {
    constexpr EnteringSums all = column_sums<S>();
    if (wall.below >= wall_depth && wall.above >= wall_depth) {
        return all;
    }
    EnteringSums sums;
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int cx = S::c[i][0], cy = S::c[i][1];
        const int inwards = -wall.outward * (wall.axis == 0 ? cx : cy);
        if (inwards > 0 && wall.stays(cx, cy)) {
            sums.add(inwards, Stencil<S>::w(i), cx * cx + cy * cy);
        }
    });
    return sums;
}

/// The correction w (alpha + beta c^2) of populations that enter the fluid.
template <class Real>
struct EnteringCorrection {
    Real alpha, beta;

    LBM_HD Real of(double w, int speed2) const { return Real(w) * (alpha + beta * Real(speed2)); }
};

/// The correction by which the missing mass enters, with `keeps_energy` the missing energy too.
template <class Real>
LBM_HD EnteringCorrection<Real> restoring(const MassAndEnergy<Real>& missing, const EnteringSums& s,
                                          bool keeps_energy) {
    if (!keeps_energy) {
        return {missing.mass * Real(1 / s.s0), Real(0)};
    }
    const double d = s.s0 * s.s2 - s.s1 * s.s1;
    return {missing.mass * Real(s.s2 / d) - missing.energy * Real(s.s1 / d),
            missing.energy * Real(s.s0 / d) - missing.mass * Real(s.s1 / d)};
}

/// Corrects the populations that enter the fluid from halo cell k, such that the whole column gains the missing mass,
/// and at an adiabatic wall the missing energy.
template <class S, class Real>
LBM_HD void restore_missing(const MultispeedWall& wall, int k, const MassAndEnergy<Real>& missing, Real (&out)[S::Q]) {
    const EnteringCorrection<Real> correction = restoring(missing, column_sums<S>(wall), !wall.isothermal);
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int cx = S::c[i][0], cy = S::c[i][1];
        if (-wall.outward * (wall.axis == 0 ? cx : cy) >= k && wall.stays(cx, cy)) {
            out[i] += correction.of(Stencil<S>::w(i), cx * cx + cy * cy);
        }
    });
}

/// What the image of a cell by the mirrors of two walls needs of their temperatures.
struct CornerTemperatures {
    double theta;  // of the one isothermal wall before the cell; of two 2 theta_c less both, theta_c in the corner
    double gradient[2];  // derivative along x of the wall across y, and along y of the other; 0 of an adiabatic one
};

/// Computes the populations `out` of the halo cell behind a corner whose mirror cell, with populations h, is the k-th
/// before the wall across x and the m-th before the other. Both mirrors, one after the other, keep the velocity and
/// reverse the stress; theta and the heat flux follow from the walls. Returns the mass and energy that leave the fluid
/// from the mirror cell through the corner, less those that enter it from this halo cell.
template <class S, class Real>
LBM_HD MassAndEnergy<Real> corner_populations(const MultispeedCorner& corner, int k, int m,
                                              const CornerTemperatures& walls, const Real (&h)[S::Q],
                                              const MultispeedParameters<Real>& parameters, Real (&out)[S::Q]) {
    const Real(&g)[2] = parameters.gravity;
    const MultispeedSums<Real> sums = multispeed_sums<S, 3>(h);
    const Gas<Real> mirror = gas_of<S>(sums);
    Gas<Real> gas = mirror;
    if (corner.is_mixed()) {
        gas.theta = theta_beyond<S>(walls.theta, mirror, g);
    } else {
        gas.theta = mirror.theta + Real(2 * walls.theta);
    }
    balance<S>(gas, mirror,
               g[0] * Real(corner.outward[0] * (2 * k - 1)) + g[1] * Real(corner.outward[1] * (2 * m - 1)));
    Quartic<Real> p = multispeed_equilibrium<S>(gas);
    const Real flux = Real(corner.is_mixed() ? 1 : -1);
    const Real conduction = flux * parameters.tau_q_minus_1 * pressure_of<S>(mirror) * Real(2 * S::cs2);
    Nonequilibrium<Real> n = nonequilibrium_of<S>(sums, mirror);
    n = {-n.xx, -n.xy, -n.yy, flux * n.xxx, flux * n.xxy, flux * n.xyy, flux * n.yyy};
    n.add_heat(conduction * Real(walls.gradient[0]), conduction * Real(walls.gradient[1]));
    add_nonequilibrium<S>(p, n);
    weighted<S>(p, out);
    MassAndEnergy<Real> missing{0, 0};
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int cx = S::c[i][0], cy = S::c[i][1], speed2 = cx * cx + cy * cy;
        const Real change = corner.leaves(cx, cy, k, m) ? h[i] : corner.leaves(-cx, -cy, k, m) ? -out[i] : Real(0);
        missing.mass += change;
        missing.energy += scaled<speed2>(change);
    });
    return missing;
}

}  // namespace lbm
