// The collision of the multispeed thermal model: a compressible ideal gas, p = rho T, whose single set of populations
// carries mass, momentum and energy. The equilibrium is the fourth-order Hermite expansion in density, velocity and
// temperature (Shan, Yuan & Chen, J. Fluid Mech. 550 (2006) 413).
//
// A body force shifts velocity and temperature in the equilibrium (Sbragaglia et al., J. Fluid Mech. 628 (2009) 299;
// Scagliarini et al., Phys. Fluids 22 (2010) 055101). Moments of third and fourth order may relax with times of their
// own (multispeed_relaxation.h).
#pragma once

#include "multispeed_relaxation.h"

namespace lbm {

/// Collides the deviations h of a cell's populations. Mass, momentum and energy change by exactly what the force gives.
/// Rounded weights would otherwise add a little at each step, always in the same direction: the rest population
/// compensates that of the mass, the velocities of length 1 those of momentum and energy.
template <class S, RelaxationTimes times, class V, class Real>
LBM_HD void collide_multispeed(V (&h)[S::Q], const MultispeedParameters<Real>& k) {
    const MultispeedSums<V> sums = multispeed_sums<S, highest_order(times)>(h);
    Gas<V> gas = gas_of<S>(sums);
    const V rho = gas.deviation + Real(1);
    Gas<V> shifted = gas;
    shifted.u[0] = gas.u[0] + k.shift[0];
    shifted.u[1] = gas.u[1] + k.shift[1];
    shifted.theta = gas.theta + k.theta_shift;
    Quartic<V> p = multispeed_equilibrium<S>(shifted);
    add_higher_orders<S, times>(p, sums, gas, k);
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

/// Updates one cell: load(h) reads the incoming populations, store(h) writes the post-collision ones.
///
/// In float64 it moves 592 bytes per cell and does about 700 floating-point operations, 880 where moments of third
/// order have times of their own and 1140 where those of fourth order have too.
template <class S, RelaxationTimes times, class Cell, class Real>
LBM_HD void update_multispeed_cell(Cell& cell, const MultispeedParameters<Real>& parameters) {
    typename Cell::Value h[S::Q];
    cell.load(h);
    collide_multispeed<S, times>(h, parameters);
    cell.store(h);
}

}  // namespace lbm
