// Walls of the multispeed thermal model. Behind a wall lie columns of three halo cells, each the mirror image of a
// fluid cell in front of the wall; the wall is halfway between the first fluid cell and the first halo cell.
//
// A halo cell holds an equilibrium plus a regularised non-equilibrium part. The equilibrium has the reversed velocity
// of the mirror cell; a temperature such that the mean of both is the wall's (isothermal), or the mirror cell's
// (adiabatic); and the density of hydrostatic balance with gravity. The non-equilibrium part has the stress of the
// mirror cell and its heat flux, as far as the wall lets it through. Higher moments are left out: with them gases of
// low viscosity become unstable at walls. The populations that enter the fluid are then corrected so that each column
// gains the mass that it has lost, and at an adiabatic wall the energy too: a closed box keeps its mass to rounding.
#pragma once

#include "multispeed.h"

namespace lbm {

constexpr int wall_depth = 3;  // halo cells behind a wall, the radius of the stencil

/// A wall between a column of fluid cells and one of halo cells.
struct MultispeedWall {
    int axis;     // of the wall's normal
    int outward;  // +1 or -1: direction along that axis from the fluid to the halo
    bool isothermal;
    double theta;     // reduced temperature theta = T / cs2 - 1 of an isothermal wall
    double gradient;  // derivative of theta along the wall
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

/// Density, velocity and temperature of the halo cell k, counted from 1 at the wall, for those of its mirror cell.
template <class S, class Real>
LBM_HD Gas<Real> halo_gas(const MultispeedWall& wall, int k, const Gas<Real>& mirror,
                          const MultispeedParameters<Real>& parameters) {
    const Real* g = parameters.gravity;
    const Real weight = g[wall.axis] * Real(wall.outward * (2 * k - 1));  // gravity times distance to the mirror
    Gas<Real> gas;
    gas.u[0] = g[0] - mirror.u[0];
    gas.u[1] = g[1] - mirror.u[1];
    gas.theta = mirror.theta;
    if (wall.isothermal) {
        gas.theta = Real(2 * wall.theta) - mirror.theta - Real(0.25 / S::cs2) * (g[0] * g[0] + g[1] * g[1]);
    }
    // Hydrostatic balance: the pressure grows by (1 + a) / (1 - a), a being `weight` over the sum of both temperatures.
    const Real a = weight * Real(1 / S::cs2) / (Real(2) + gas.theta + mirror.theta);
    const Real growth =
        (mirror.theta - gas.theta + weight * Real(1 / S::cs2)) / ((Real(1) + gas.theta) * (Real(1) - a));
    gas.deviation = mirror.deviation + (Real(1) + mirror.deviation) * growth;
    return gas;
}

/// Adds the non-equilibrium part to a halo cell's equilibrium: the stress of the mirror cell unchanged, and its third
/// moments, which carry the heat flux. At an isothermal wall the normal flux keeps its sign and the tangential flux is
/// reversed, so that at the wall just the conduction by the wall's own temperature gradient remains. At an adiabatic
/// wall the normal flux is reversed, so that none crosses the wall, and the tangential flux keeps its sign.
template <class S, class Real>
LBM_HD void add_halo_nonequilibrium(Quartic<Real>& p, const MultispeedWall& wall, const MultispeedSums<Real>& s,
                                    const Gas<Real>& mirror, const MultispeedParameters<Real>& parameters) {
    const Real rho = Real(1) + mirror.deviation, x = mirror.u[0], y = mirror.u[1], jx = s.momentum[0],
               jy = s.momentum[1];
    const Real pressure = rho * (Real(1) + mirror.theta) * Real(S::cs2);
    const Real rest =
        mirror.deviation * Real(S::cs2) + rho * mirror.theta * Real(S::cs2);  // pressure above that of the weights
    const Real nxx = s.xx - (jx * x + rest), nyy = s.yy - (jy * y + rest), nxy = s.xy - jx * y;
    constexpr double k = 1 / S::cs2;
    p.p00 -= Real(k / 2) * (nxx + nyy);
    p.p20 += Real(k * k / 2) * nxx;
    p.p11 += Real(k * k) * nxy;
    p.p02 += Real(k * k / 2) * nyy;
    const Real nxxx = s.xxx - x * (jx * x + Real(3) * pressure), nyyy = s.yyy - y * (jy * y + Real(3) * pressure);
    const Real nxxy = s.xxy - y * (jx * x + pressure), nxyy = s.xyy - x * (jy * y + pressure);
    const bool reverses_x = (wall.axis == 0) != wall.isothermal;
    const Real sign_x = Real(reverses_x ? -1 : 1), sign_y = -sign_x;
    const Real conduction =
        wall.isothermal ? parameters.tau_q_minus_1 * pressure * Real(-2 * S::cs2 * wall.gradient) : Real(0);
    const Real conduction_x = reverses_x ? conduction : Real(0), conduction_y = reverses_x ? Real(0) : conduction;
    add_cubic<S>(p, sign_x * nxxx + Real(3) * conduction_x, sign_y * nxxy + conduction_y, sign_x * nxyy + conduction_x,
                 sign_y * nyyy + Real(3) * conduction_y);
}

/// Computes the populations `out` of halo cell k from the populations h of its mirror cell. Returns the mass and energy
/// that leave the fluid from the mirror cell, less those that enter it from this halo cell.
template <class S, class Real>
LBM_HD MassAndEnergy<Real> halo_populations(const MultispeedWall& wall, int k, const Real (&h)[S::Q],
                                            const MultispeedParameters<Real>& parameters, Real (&out)[S::Q]) {
    const MultispeedSums<Real> sums = multispeed_sums<S, true>(h);
    const Gas<Real> mirror = gas_of<S>(sums);
    Quartic<Real> p = multispeed_equilibrium<S>(halo_gas<S>(wall, k, mirror, parameters));
    add_halo_nonequilibrium<S>(p, wall, sums, mirror, parameters);
    weighted<S>(p, out);
    MassAndEnergy<Real> missing{0, 0};
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int cx = S::c[i][0], cy = S::c[i][1], speed2 = cx * cx + cy * cy;
        const int along = wall.outward * (wall.axis == 0 ? cx : cy);
        const Real change = along >= k ? h[i] : -along >= k ? -out[i] : Real(0);
        missing.mass += change;
        missing.energy += scaled<speed2>(change);
    });
    return missing;
}

/// The sum of w c^(2n) over the populations that enter the fluid from a column; a velocity counts once for each halo
/// cell from which it does.
template <class S>
constexpr double entering_sum(int n) {
    double sum = 0;
    for (int i = 0; i < S::Q; ++i) {
        const int speed2 = S::c[i][0] * S::c[i][0] + S::c[i][1] * S::c[i][1];
        double power = 1;
        for (int k = 0; k < n; ++k) {
            power *= speed2;
        }
        sum += S::c[i][0] > 0 ? S::c[i][0] * Stencil<S>::w(i) * power : 0;
    }
    return sum;
}

/// Corrects the populations that enter the fluid from halo cell k by w (alpha + beta c^2), such that the whole column
/// gains the missing mass, and at an adiabatic wall the missing energy.
template <class S, class Real>
LBM_HD void restore_missing(const MultispeedWall& wall, int k, const MassAndEnergy<Real>& missing, Real (&out)[S::Q]) {
    constexpr double s0 = entering_sum<S>(0), s1 = entering_sum<S>(1), s2 = entering_sum<S>(2), d = s0 * s2 - s1 * s1;
    Real alpha = missing.mass * Real(1 / s0), beta = 0;
    if (!wall.isothermal) {
        alpha = missing.mass * Real(s2 / d) - missing.energy * Real(s1 / d);
        beta = missing.energy * Real(s0 / d) - missing.mass * Real(s1 / d);
    }
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        constexpr int cx = S::c[i][0], cy = S::c[i][1], speed2 = cx * cx + cy * cy;
        if (-wall.outward * (wall.axis == 0 ? cx : cy) >= k) {
            out[i] += Real(Stencil<S>::w(i)) * (alpha + beta * Real(speed2));
        }
    });
}

}  // namespace lbm
