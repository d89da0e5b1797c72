// The hybrid thermal model between steps: temperatures of halo cells behind walls, the update of cells next to bodies,
// and heat through walls.
#pragma once

#include "../lattice/moments.h"
#include "../lattice/temperature.h"
#include "lattice_view.h"
#include "link_data.h"

namespace lbm::backend {

/// The current temperatures of a lattice whose last step was of `phase`.
template <class Real, class Stored>
struct TemperatureView {
    Stored* slot;  // shifted such that offsets of slot 0 address the current temperatures

    LBM_HD TemperatureView(Stored* data, const Address& address, Phase phase)
        : slot(data + temperature_slot(phase) * address.temperature_stride) {}

    LBM_HD Real at(Index place) const { return from_storage<Real>(slot[place]); }
};

/// Sets the temperature of a halo cell behind a wall.
template <class Real, class Stored>
LBM_HD void fill_wall_temperature(const TemperatureView<Real, Stored>& view, const WallTemperature& wall) {
    view.slot[wall.target] = Store<Stored>::from(Real(wall.sign) * view.at(wall.source) + Real(wall.value));
}

/// The temperature that a fluid cell next to a body uses for its solid neighbour.
template <class Real, class Stored>
LBM_HD Real beyond_body(const TemperatureView<Real, Stored>& view, const ThermalLink& link, const ThermalTerm* terms) {
    const Real first = view.at(terms[link.first].source);
    Real sum = Real(terms[link.first].weight) * first;
    for (int k = link.first + 1; k < link.first + link.count; ++k) {
        sum = sum + Real(terms[k].weight) * (view.at(terms[k].source) - first);
    }
    return sum + Real(link.value);
}

/// The temperature of a cell next to a body after the next step, computed before that step, once boundaries and halos
/// have been applied. The update kernel cannot compute it: it reads the stored temperature of solid neighbours, but a
/// solid cell has a different temperature for each of its fluid neighbours.
template <class S, class Real, class Stored>
LBM_HD Real advanced_next_to_body(const LatticeView<S, Real, Stored>& lattice, const ThermalCell& cell,
                                  const ThermalLink* links, const ThermalTerm* terms, const Real (&body_force)[3],
                                  Real source, const HeatParameters<Real>& heat) {
    const Address& a = lattice.address;
    const TemperatureView<Real, Stored> view(lattice.data, a, lattice.phase);
    const Index own = temperature_offset(a, Phase::TwoLattice, cell.x, cell.y, cell.z);
    const Index rows = a.row_stride, layers = a.row_stride * (a.ny + 2 * a.halo_y);
    Real around[S::Q];
    around[0] = view.at(own);
    int k = cell.first;
    static_for<S::Q - 1>([&]<int j>() LBM_INLINE_LAMBDA {
        constexpr int i = j + 1;
        if (k < cell.first + cell.count && links[k].i == i) {
            around[i] = beyond_body(view, links[k], terms);
            ++k;
        } else {
            around[i] = view.at(own + S::c[i][0] + S::c[i][1] * rows + S::c[i][2] * layers);
        }
    });
    const auto local = local_temperature<S>(
        around[0], [&]<int i>() LBM_INLINE_LAMBDA { return around[i]; }, heat);

    const CellOffsets<S> places(a, lattice.phase, cell.x, cell.y, cell.z);
    Real h[S::Q], force[S::D];
    static_for<S::Q>([&]<int i>()
                         LBM_INLINE_LAMBDA { h[i] = from_storage<Real>(lattice.data[places.post_streaming(i)]); });
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { force[d] = body_force[d]; });
    add_buoyancy<S>(force, local.here, heat);
    const Moments<S, Real> m = compute_moments<S>(h[0], pair_sums<S>(h), force, true, Real(1), lattice.compressibility);
    return advanced<S>(local, m.velocity, source);
}

/// The value of one term of the heat that enters the fluid.
template <class Real, class Stored>
LBM_HD double sampled_heat(const TemperatureView<Real, Stored>& view, const HeatSample& sample) {
    double sum = sample.value;
    for (int k = 0; k < 2; ++k) {
        sum += sample.coefficient[k] * double(view.at(sample.source[k]));
    }
    return sum;
}

}  // namespace lbm::backend
