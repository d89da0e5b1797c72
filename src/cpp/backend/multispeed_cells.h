// The multispeed thermal model between steps: density, velocity and temperature of a cell, and the halo behind walls.
#pragma once

#include "../lattice/multispeed_wall.h"
#include "lattice_view.h"
#include "link_data.h"

namespace lbm::backend {

/// Reads the deviations of a cell's post-collision populations.
template <class S, class Real, class Stored>
LBM_HD void post_collision_of(const CellView<S, Real, Stored>& cell, Real (&h)[S::Q]) {
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { h[i] = cell.post_collision(i); });
}

/// Density, velocity and temperature of a cell between two steps. Post-collision populations contain the gravity of a
/// whole step, of which half is subtracted.
template <class S, class Real, class Stored>
LBM_HD Gas<Real> gas_between_steps(const CellView<S, Real, Stored>& cell, const double (&gravity)[3]) {
    Real h[S::Q];
    post_collision_of(cell, h);
    Gas<Real> gas = gas_of<S>(multispeed_sums<S, false>(h));
    const Real g[2] = {Real(gravity[0]), Real(gravity[1])};
    gas.u[0] -= Real(0.5) * g[0];
    gas.u[1] -= Real(0.5) * g[1];
    gas.theta += Real(0.125 / S::cs2) * (g[0] * g[0] + g[1] * g[1]);
    return gas;
}

/// The temperature T = cs2 (1 + theta).
template <class S, class Real>
LBM_HD Real temperature_of(const Gas<Real>& gas) {
    return Real(S::cs2) * (Real(1) + gas.theta);
}

/// Whether a temperature is between 0 and 1e6. A NaN fails too, so that a diverged cell is found.
template <class Real>
LBM_HD bool temperature_is_valid(Real temperature) {
    return temperature > Real(0) && temperature < Real(1e6);
}

/// Computes the populations of halo cell k (1 to wall_depth) of a column, and returns its share of the mass and energy
/// that the column misses.
template <class S, class Real, class Stored>
LBM_HD MassAndEnergy<Real> halo_cell(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column, int k,
                                     const MultispeedParameters<Real>& parameters, Real (&out)[S::Q]) {
    const int inwards = -column.wall.outward * (k - 1);
    const int x = column.x + (column.wall.axis == 0 ? inwards : 0);
    const int y = column.y + (column.wall.axis == 1 ? inwards : 0);
    Real h[S::Q];
    post_collision_of(lattice.cell(x, y, 0), h);
    return halo_populations<S>(column.wall, k, h, parameters, out);
}

/// Corrects the populations of halo cell k for the missing mass and energy and stores them, unless the cell lies beyond
/// the block's halo: a block may begin a cell or two off the wall.
template <class S, class Real, class Stored>
LBM_HD void put_halo_cell(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column, int k,
                          const MassAndEnergy<Real>& missing, Real (&out)[S::Q]) {
    const int outwards = column.wall.outward * k;
    const int x = column.x + (column.wall.axis == 0 ? outwards : 0);
    const int y = column.y + (column.wall.axis == 1 ? outwards : 0);
    const Address& a = lattice.address;
    if (x < -a.halo_x || x >= a.nx + a.halo_x || y < -a.halo_y || y >= a.ny + a.halo_y) {
        return;
    }
    restore_missing<S>(column.wall, k, missing, out);
    const auto cell = lattice.cell(x, y, 0);
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { cell.set_post_collision(i, out[i]); });
}

/// Computes all halo cells of a column.
template <class S, class Real, class Stored>
LBM_HD void fill_wall_column(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column,
                             const MultispeedParameters<Real>& parameters) {
    Real out[wall_depth][S::Q];
    MassAndEnergy<Real> missing{0, 0};
    for (int k = 1; k <= wall_depth; ++k) {
        const MassAndEnergy<Real> share = halo_cell(lattice, column, k, parameters, out[k - 1]);
        missing.mass += share.mass;
        missing.energy += share.energy;
    }
    for (int k = 1; k <= wall_depth; ++k) {
        put_halo_cell(lattice, column, k, missing, out[k - 1]);
    }
}

/// Half the sum of f c^2 over the populations that enter the fluid from a column in the next step, less that over those
/// that leave it there. It reads what was stored behind the wall, so that the sums over all columns and steps are the
/// change of the gas's energy to rounding.
template <class S, class Real, class Stored>
LBM_HD double exchanged_energy(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column) {
    const int inwards = -column.wall.outward, along_x = column.wall.axis == 0 ? inwards : 0,
              along_y = column.wall.axis == 1 ? inwards : 0;
    double sum = 0;
    for (int k = 1; k <= wall_depth; ++k) {
        const auto mirror = lattice.cell(column.x + (k - 1) * along_x, column.y + (k - 1) * along_y, 0);
        const auto beyond = lattice.cell(column.x - k * along_x, column.y - k * along_y, 0);
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            constexpr int cx = S::c[i][0], cy = S::c[i][1];
            const int into = cx * along_x + cy * along_y;
            if (into >= k) {
                sum += 0.5 * (cx * cx + cy * cy) * double(beyond.post_collision(i));
            } else if (-into >= k) {
                sum -= 0.5 * (cx * cx + cy * cy) * double(mirror.post_collision(i));
            }
        });
    }
    return sum;
}

/// Fourier's law at an isothermal wall: k (184 T_w - 225 T_1 + 50 T_2 - 9 T_3) / 60, of third order in the distance of
/// the cells, with the conductivity k = c_p p (tau_q - 1/2) of the pressure at the wall, to which that of the first
/// cell is continued by the weight of half a cell.
template <class S, class Real, class Stored>
LBM_HD double conducted_heat(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column,
                             const double (&gravity)[3], double tau_q_minus_half) {
    constexpr double weights[wall_depth] = {-225.0 / 60, 50.0 / 60, -9.0 / 60}, specific_heat = 2;
    const MultispeedWall& wall = column.wall;
    double difference = 184.0 / 60 * wall.theta, pressure = 0;
    for (int k = 0; k < wall_depth; ++k) {
        const int x = column.x - (wall.axis == 0 ? k * wall.outward : 0);
        const int y = column.y - (wall.axis == 1 ? k * wall.outward : 0);
        const Gas<Real> gas = gas_between_steps(lattice.cell(x, y, 0), gravity);
        difference += weights[k] * double(gas.theta);
        if (k == 0) {
            const double rho = 1 + double(gas.deviation);
            pressure = rho * (S::cs2 * (1 + double(gas.theta)) + 0.5 * wall.outward * gravity[wall.axis]);
        }
    }
    return specific_heat * pressure * tau_q_minus_half * S::cs2 * difference;
}

/// Both for a column whose halo is filled; none passes an adiabatic wall.
template <class S, class Real, class Stored>
LBM_HD ColumnHeat column_heat(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column,
                              const double (&gravity)[3], double tau_q_minus_half) {
    if (!column.wall.isothermal) {
        return {0, 0};
    }
    return {exchanged_energy(lattice, column), conducted_heat(lattice, column, gravity, tau_q_minus_half)};
}

}  // namespace lbm::backend
