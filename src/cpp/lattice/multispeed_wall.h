// Walls of the multispeed thermal model. Behind a wall lie columns of three halo cells, each the mirror image of a
// fluid cell in front of the wall; the wall is halfway between the first fluid cell and the first halo cell.
//
// A halo cell holds an equilibrium plus a regularised non-equilibrium part. The equilibrium has the reversed velocity
// of the mirror cell; a temperature such that the mean of both is the wall's (isothermal), or the mirror cell's
// (adiabatic); and the density of hydrostatic balance with gravity. The non-equilibrium part has the stress of the
// mirror cell and its heat flux, as far as the wall lets it through. Higher moments are left out: with them gases of
// low viscosity become unstable at walls. The populations that enter the fluid are then corrected so that each column
// gains the mass that it has lost, and at an adiabatic wall the energy too: a closed box keeps its mass to rounding.
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

/// Density, velocity and temperature of the halo cell k, counted from 1 at the wall, for those of its mirror cell.
template <class S, class Real>
LBM_HD Gas<Real> halo_gas(const MultispeedWall& wall, int k, const Gas<Real>& mirror,
                          const MultispeedParameters<Real>& parameters) {
    const Real(&g)[2] = parameters.gravity;
    const Real weight = g[wall.axis] * Real(wall.outward * (2 * k - 1));  // gravity times distance to the mirror
    Gas<Real> gas;
    gas.u[0] = g[0] - mirror.u[0];
    gas.u[1] = g[1] - mirror.u[1];
    gas.theta = mirror.theta;
    if (wall.isothermal) {
        gas.theta = theta_beyond<S>(wall.theta, mirror, g);
    }
    balance<S>(gas, mirror, weight);
    return gas;
}

/// The pressure rho T.
template <class S, class Real>
LBM_HD Real pressure_of(const Gas<Real>& gas) {
    return (Real(1) + gas.deviation) * (Real(1) + gas.theta) * Real(S::cs2);
}

/// What of a mirror cell's non-equilibrium part its image has: the sign of the stress, those of the heat flux, and flux
/// that is added to it.
template <class Real>
struct NonequilibriumImage {
    Real stress, flux[2], added[2];
};

/// Adds the non-equilibrium part to a halo cell's equilibrium, by the moments of second and third order of the mirror
/// cell.
template <class S, class Real>
LBM_HD void add_nonequilibrium(Quartic<Real>& p, const MultispeedSums<Real>& s, const Gas<Real>& mirror,
                               const NonequilibriumImage<Real>& image) {
    const Real rho = Real(1) + mirror.deviation, x = mirror.u[0], y = mirror.u[1], jx = s.momentum[0],
               jy = s.momentum[1];
    const Real pressure = pressure_of<S>(mirror);
    const Real rest =
        mirror.deviation * Real(S::cs2) + rho * mirror.theta * Real(S::cs2);  // pressure above that of the weights
    const Real nxx = image.stress * (s.xx - (jx * x + rest)), nyy = image.stress * (s.yy - (jy * y + rest)),
               nxy = image.stress * (s.xy - jx * y);
    constexpr double k = 1 / S::cs2;
    p.p00 -= Real(k / 2) * (nxx + nyy);
    p.p20 += Real(k * k / 2) * nxx;
    p.p11 += Real(k * k) * nxy;
    p.p02 += Real(k * k / 2) * nyy;
    const Real nxxx = s.xxx - x * (jx * x + Real(3) * pressure), nyyy = s.yyy - y * (jy * y + Real(3) * pressure);
    const Real nxxy = s.xxy - y * (jx * x + pressure), nxyy = s.xyy - x * (jy * y + pressure);
    add_cubic<S>(p, image.flux[0] * nxxx + Real(3) * image.added[0], image.flux[1] * nxxy + image.added[1],
                 image.flux[0] * nxyy + image.added[0], image.flux[1] * nyyy + Real(3) * image.added[1]);
}

/// The image behind a wall: the stress is that of the mirror cell, and so are its third moments, which carry the heat
/// flux, but for signs. At an isothermal wall the normal flux keeps its sign and the tangential flux is reversed, so
/// that at the wall just the conduction by the wall's own temperature gradient remains. At an adiabatic wall the normal
/// flux is reversed, so that none crosses the wall, and the tangential flux keeps its sign.
template <class S, class Real>
LBM_HD NonequilibriumImage<Real> image_behind(const MultispeedWall& wall, const Gas<Real>& mirror,
                                              const MultispeedParameters<Real>& parameters) {
    const bool reverses_x = (wall.axis == 0) != wall.isothermal;
    const Real conduction = wall.isothermal
                                ? parameters.tau_q_minus_1 * pressure_of<S>(mirror) * Real(-2 * S::cs2 * wall.gradient)
                                : Real(0);
    const Real sign_x = Real(reverses_x ? -1 : 1);
    return {Real(1), {sign_x, -sign_x}, {reverses_x ? conduction : Real(0), reverses_x ? Real(0) : conduction}};
}

/// Computes the populations `out` of halo cell k from the populations h of its mirror cell. Returns the mass and energy
/// that leave the fluid from the mirror cell, less those that enter it from this halo cell.
template <class S, class Real>
LBM_HD MassAndEnergy<Real> halo_populations(const MultispeedWall& wall, int k, const Real (&h)[S::Q],
                                            const MultispeedParameters<Real>& parameters, Real (&out)[S::Q]) {
    const MultispeedSums<Real> sums = multispeed_sums<S, true>(h);
    const Gas<Real> mirror = gas_of<S>(sums);
    Quartic<Real> p = multispeed_equilibrium<S>(halo_gas<S>(wall, k, mirror, parameters));
    add_nonequilibrium<S>(p, sums, mirror, image_behind<S>(wall, mirror, parameters));
    weighted<S>(p, out);
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
    const MultispeedSums<Real> sums = multispeed_sums<S, true>(h);
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
    add_nonequilibrium<S>(
        p, sums, mirror,
        NonequilibriumImage<Real>{
            Real(-1), {flux, flux}, {conduction * Real(walls.gradient[0]), conduction * Real(walls.gradient[1])}});
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
