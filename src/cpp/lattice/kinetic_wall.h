// What lies behind a wall for a stencil whose populations carry the energy: three cells of a column of halo, which
// mirror the three fluid cells before the wall, half a cell from it.
//
// A halo cell has the equilibrium of its mirror's velocity reversed, of the temperature that makes the wall's, or the
// mirror's own behind an adiabatic wall, and of the pressure that gravity leaves there, and what its mirror has beside
// its own equilibrium. What enters a column is then given the mass that has left it, and behind an adiabatic wall the
// energy too: so a box keeps its mass to the rounding of its numbers.
#pragma once

#include "kinetic.h"

namespace lbm {

constexpr int wall_depth = 3;  // cells behind a wall that streaming reaches

/// A wall normal to `axis`; the halo lies at -outward (k - 1) - 1 from it.
struct KineticWall {
    int axis;
    int outward;  // +1 or -1
    bool isothermal;
    double warmth;    // of an isothermal wall: T / cs2 - 1
    double gradient;  // of that, along the wall
};

/// Mass and energy, the sums of f and f c^2.
template <class Real>
struct MassAndEnergy {
    Real mass, energy;
};

/// Deviations of the equilibrium.
template <class S, class Real>
LBM_HD void equilibrium_populations(const Gas<Real>& gas, Real (&h)[S::Q]) {
    const Quartic<Real> p = kinetic_equilibrium<S>(gas);
    h[0] = Real(Stencil<S>::w(0)) * p.p00;
    const auto pair = [&]<int axis, int a>() LBM_INLINE_LAMBDA {
        using N = AxisPair<S, axis, a>;
        constexpr Real w = Real(Stencil<S>::w(N::plus));
        p.template at_pair<axis, a>(h[N::plus], h[N::minus]);
        h[N::plus] *= w;
        h[N::minus] *= w;
    };
    static_for<2>([&]<int axis>() LBM_INLINE_LAMBDA {
        static_for<S::reach>([&]<int m>() LBM_INLINE_LAMBDA { pair.template operator()<axis, m + 1>(); });
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

/// What the halo cell k (1 the nearest) has for its mirror.
template <class S, class Real>
LBM_HD Gas<Real> gas_behind(const KineticWall& wall, int k, const Gas<Real>& mirror,
                            const KineticParameters<Real>& parameters) {
    const Real* g = parameters.gravity;
    const Real weight = g[wall.axis] * Real(wall.outward * (2 * k - 1));  // gravity times the way from the mirror
    Gas<Real> gas;
    gas.u[0] = g[0] - mirror.u[0];
    gas.u[1] = g[1] - mirror.u[1];
    gas.warmth = mirror.warmth;
    if (wall.isothermal) {
        gas.warmth = Real(2 * wall.warmth) - mirror.warmth - Real(0.25 / S::cs2) * (g[0] * g[0] + g[1] * g[1]);
    }
    // The pressure grows by (1 + a) / (1 - a), a being that over the sum of the temperatures.
    const Real a = weight * Real(1 / S::cs2) / (Real(2) + gas.warmth + mirror.warmth);
    const Real growth =
        (mirror.warmth - gas.warmth + weight * Real(1 / S::cs2)) / ((Real(1) + gas.warmth) * (Real(1) - a));
    gas.deviation = mirror.deviation + (Real(1) + mirror.deviation) * growth;
    return gas;
}

/// The halo cell k for the populations h of its mirror, and what has left the mirror towards the wall less what enters.
template <class S, class Real>
LBM_HD MassAndEnergy<Real> behind_wall(const KineticWall& wall, int k, const Real (&h)[S::Q],
                                       const KineticParameters<Real>& parameters, Real (&out)[S::Q]) {
    const Gas<Real> mirror = gas_of<S>(kinetic_sums<S, false>(h));
    Real rest[S::Q];  // beside the mirror's equilibrium
    equilibrium_populations<S>(mirror, rest);
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { rest[i] = h[i] - rest[i]; });
    equilibrium_populations<S>(gas_behind<S>(wall, k, mirror, parameters), out);
    // The even part has the stress and stays. The odd one has the flux of heat: across an isothermal wall it goes on,
    // and along it that of the wall's own temperature is left at the wall; for an adiabatic one it is the other way
    // round, and none goes across.
    const Real flux =
        Real(-wall.gradient) * parameters.third * ((Real(1) + mirror.deviation) * (Real(1) + mirror.warmth));
    const auto add = [&]<int mirrored>() LBM_INLINE_LAMBDA {
        out[0] += rest[0];
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            constexpr int i = 2 * p + 1, j = Stencil<S>::mirror(i, mirrored), opposite = Stencil<S>::opposite(j);
            constexpr int speed2 = S::c[i][0] * S::c[i][0] + S::c[i][1] * S::c[i][1];
            constexpr double along = Stencil<S>::w(i) * S::c[i][mirrored] * (speed2 / S::cs2 - 4);
            const Real even = Real(0.5) * (rest[i] + rest[i + 1]);
            Real odd = Real(0.5) * (rest[j] - rest[opposite]);
            if constexpr (along != 0) {
                odd += wall.isothermal ? Real(along) * flux : Real(0);
            }
            out[i] += even + odd;
            out[i + 1] += even - odd;
        });
    };
    if ((wall.axis == 0) == wall.isothermal) {
        add.template operator()<1>();
    } else {
        add.template operator()<0>();
    }
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

/// Sums of w c^(2n) over what enters a column, a velocity from as many cells as it reaches.
template <class S>
constexpr double entering(int n) {
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

/// Gives what enters from the halo cell k its share of what the column misses.
template <class S, class Real>
LBM_HD void give_missing(const KineticWall& wall, int k, const MassAndEnergy<Real>& missing, Real (&out)[S::Q]) {
    constexpr double s0 = entering<S>(0), s1 = entering<S>(1), s2 = entering<S>(2), d = s0 * s2 - s1 * s1;
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
