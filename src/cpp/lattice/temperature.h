// The temperature of the hybrid thermal model: advection and diffusion by explicit finite differences over the
// stencil's neighbours, buoyancy, and the coupling to the equilibrium of the flow.
//
// All equations are linear in the temperature, so temperatures below are deviations T - T_0 from the model's reference,
// which only code outside the engine knows. As with the deviations of populations from their weights, the stored digits
// are then those of the differences that drive the flow.
//
// The operators have the symmetries of the stencil (Lallemand & Luo, Phys. Rev. E 68 (2003) 036706; Obrecht, Kuznik,
// Tourancheau & Roux, Computers & Fluids 80 (2013) 269). They are sums of differences between neighbouring cells, so
// that a uniform temperature stays exactly uniform.
#pragma once

#include "address.h"
#include "moments.h"
#include "streaming.h"

namespace lbm {

/// Coefficients of the temperature's step, in the arithmetic type, computed once by the host. In arrays of two the
/// first is for neighbours along the axes, the second for diagonal ones.
template <class Real>
struct HeatParameters {
    Real diffusion[2];  // the diffusivity times a neighbour's weight in the Laplacian
    Real slope[2];      // weight of the difference between opposite neighbours in the derivatives
    Real energy[2];     // growth of a pair sum of the equilibrium per unit of temperature
    Real buoyancy[3];   // force per volume and unit of temperature
    Real source;        // temperature increase per step
};

template <class To, class From>
LBM_HD HeatParameters<To> converted(const HeatParameters<From>& p) {
    HeatParameters<To> out{};
    for (int k = 0; k < 2; ++k) {
        out.diffusion[k] = To(p.diffusion[k]);
        out.slope[k] = To(p.slope[k]);
        out.energy[k] = To(p.energy[k]);
    }
    for (int d = 0; d < 3; ++d) {
        out.buoyancy[d] = To(p.buoyancy[d]);
    }
    out.source = To(p.source);
    return out;
}

/// The slot to which a step of `phase` writes the temperature. There is one for each phase: in the A-A pattern's single
/// lattice the neighbours still need the temperature before the step.
LBM_HD constexpr int temperature_slot(Phase phase) { return phase_index(phase); }

/// Offset of the temperature of cell (x, y, z) after a step of `phase`; the block has a halo of one cell for it.
LBM_HD Index temperature_offset(const Address& a, Phase phase, int x, int y, int z) {
    return a.row(y, z, 0) + a.temperature + temperature_slot(phase) * a.temperature_stride + x;
}

/// The temperature of a cell, its change by diffusion in a step, and its gradient.
template <class S, class V>
struct LocalTemperature {
    V here;
    V diffused;
    V gradient[S::D];
};

template <class S>
constexpr bool is_axis_pair(int p) {
    return Stencil<S>::squared_speed(2 * p + 1) == 1;
}

/// `neighbor.operator()<i>()` returns the temperature of the neighbour at x + c_i.
template <class S, class V, class Neighbor>
LBM_HD LocalTemperature<S, V> local_temperature(V here, const Neighbor& neighbor,
                                                const HeatParameters<Scalar<V>>& heat) {
    constexpr int pairs = Stencil<S>::pairs;
    static_assert(is_axis_pair<S>(S::D - 1) && !is_axis_pair<S>(S::D));
    V excess[pairs], difference[pairs];
    static_for<pairs>([&]<int p>() LBM_INLINE_LAMBDA {
        const V ahead = neighbor.template operator()<2 * p + 1>();
        const V behind = neighbor.template operator()<2 * p + 2>();
        excess[p] = (ahead - here) + (behind - here);
        difference[p] = ahead - behind;
    });
    LocalTemperature<S, V> local;
    local.here = here;
    local.diffused = heat.diffusion[0] * total<0, S::D>(excess) + heat.diffusion[1] * total<S::D, pairs - S::D>(excess);
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        V diagonal = V{};
        static_for<pairs - S::D>([&]<int q>() LBM_INLINE_LAMBDA {
            accumulate<S::c[2 * (q + S::D) + 1][d]>(diagonal, difference[q + S::D]);
        });
        local.gradient[d] = heat.slope[0] * difference[d] + heat.slope[1] * diagonal;
    });
    return local;
}

/// The temperature after a step with velocity u and heat source q: T + kappa Lap T - u . grad T + q.
template <class S, class V>
LBM_HD V advanced(const LocalTemperature<S, V>& local, const V (&u)[S::D], V source) {
    V carried = u[0] * local.gradient[0];
    static_for<S::D - 1>([&]<int d>() LBM_INLINE_LAMBDA { carried = carried + u[d + 1] * local.gradient[d + 1]; });
    return local.here + ((local.diffused - carried) + source);
}

/// Adds the buoyancy of the Boussinesq approximation, at density 1, to a force.
template <class S, class V, int N>
LBM_HD void add_buoyancy(V (&force)[N], V temperature, const HeatParameters<Scalar<V>>& heat) {
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { force[d] = force[d] + heat.buoyancy[d] * temperature; });
}

/// The coupling of the hybrid thermal model: subtracts the temperature's contribution to the energy moment of the
/// equilibrium from the pair sums of the non-equilibrium part (Obrecht et al. 2013, eq. 7).
template <class S, class V>
struct EnergyCoupling {
    V temperature;
    const HeatParameters<Scalar<V>>& heat;

    template <int p>
    LBM_HD void apply(V& even) const {
        even = even - heat.energy[is_axis_pair<S>(p) ? 0 : 1] * temperature;
    }
};

}  // namespace lbm
