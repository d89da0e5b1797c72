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
    Gas<Real> gas = gas_of<S>(multispeed_sums<S, 1>(h));
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

/// Reads the populations of the mirror cell of halo cell k (1 to wall_depth) of a column.
template <class S, class Real, class Stored>
LBM_HD void read_mirror(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column, int k, Real (&h)[S::Q]) {
    const int inwards = -column.wall.outward * (k - 1);
    const int x = column.x + (column.wall.axis == 0 ? inwards : 0);
    const int y = column.y + (column.wall.axis == 1 ? inwards : 0);
    post_collision_of(lattice.cell(x, y, 0), h);
}

/// Whether the lattice has a cell, in the block or its halo.
LBM_HD bool has_cell(const Address& a, int x, int y) {
    return x >= -a.halo_x && x < a.nx + a.halo_x && y >= -a.halo_y && y < a.ny + a.halo_y;
}

/// Corrects the populations of halo cell k for the missing mass and energy and stores them, unless the cell lies beyond
/// the block's halo: a block may begin a cell or two off the wall.
template <class S, class Real, class Stored>
LBM_HD void put_halo_cell(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column, int k,
                          const MassAndEnergy<Real>& missing, Real (&out)[S::Q]) {
    const int outwards = column.wall.outward * k;
    const int x = column.x + (column.wall.axis == 0 ? outwards : 0);
    const int y = column.y + (column.wall.axis == 1 ? outwards : 0);
    if (!has_cell(lattice.address, x, y)) {
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
    Real h[wall_depth][S::Q], out[wall_depth][S::Q];
    Gas<Real> gas[wall_depth];
    for (int k = 1; k <= wall_depth; ++k) {
        read_mirror(lattice, column, k, h[k - 1]);
        gas[k - 1] = gas_of<S>(multispeed_sums<S, 1>(h[k - 1]));
    }
    const WallProfile<Real> profile = profile_of<S>(column.wall, gas, parameters.gravity);
    MassAndEnergy<Real> missing{0, 0};
    for (int k = 1; k <= wall_depth; ++k) {
        const MassAndEnergy<Real> share =
            halo_populations<S>(column.wall, k, profile, h[k - 1], parameters, out[k - 1]);
        missing.mass += share.mass;
        missing.energy += share.energy;
    }
    for (int k = 1; k <= wall_depth; ++k) {
        put_halo_cell(lattice, column, k, missing, out[k - 1]);
    }
}

/// The cells before and behind a corner: calls visit(k, m, cell before it, x, y of the one behind) for those from which
/// populations pass both walls.
template <class S, class Real, class Stored, class Visit>
LBM_HD void over_corner(const LatticeView<S, Real, Stored>& lattice, int x, int y, const int (&outward)[2],
                        Visit&& visit) {
    for (int k = 1; k <= wall_depth; ++k) {
        for (int m = 1; k + m <= wall_depth + 1; ++m) {  // the two components of a velocity add up to 4 at most
            visit(k, m, lattice.cell(x - outward[0] * (k - 1), y - outward[1] * (m - 1), 0), x + outward[0] * k,
                  y + outward[1] * m);
        }
    }
}

/// The temperatures of the walls of a corner before the k-th cell off the wall across x and the m-th off the other, of
/// which theirs are those of columns that lie behind each other in the plan.
LBM_HD CornerTemperatures corner_temperatures(const WallCorner& corner, const WallColumn* columns, int k, int m) {
    const MultispeedCorner& c = corner.corner;
    const auto across_x = [&](int n) LBM_INLINE_LAMBDA -> const MultispeedWall& {
        return columns[corner.columns[0] - c.outward[1] * n].wall;
    };
    const auto across_y = [&](int n) LBM_INLINE_LAMBDA -> const MultispeedWall& {
        return columns[corner.columns[1] - c.outward[0] * n].wall;
    };
    const MultispeedWall &x = across_x(m - 1), &y = across_y(k - 1);
    double theta = x.theta + y.theta;  // that of an adiabatic wall is 0
    if (!c.is_mixed()) {
        const auto at_end = [](double first, double second, double third)
                                LBM_INLINE_LAMBDA { return (15 * first - 10 * second + 3 * third) / 8; };
        const double in_corner = at_end(across_x(0).theta, across_x(1).theta, across_x(2).theta) +
                                 at_end(across_y(0).theta, across_y(1).theta, across_y(2).theta);
        theta = in_corner - theta;
    }
    return {theta, {y.gradient, x.gradient}};
}

/// Computes all halo cells behind a corner; those beyond the block's halo are not stored.
template <class S, class Real, class Stored>
LBM_HD void fill_wall_corner(const LatticeView<S, Real, Stored>& lattice, const WallCorner& corner,
                             const WallColumn* columns, const MultispeedParameters<Real>& parameters) {
    MassAndEnergy<Real> missing{0, 0};
    over_corner(lattice, corner.x, corner.y, corner.corner.outward,
                [&](int k, int m, const CellView<S, Real, Stored>& before, int x, int y) {
                    Real h[S::Q], out[S::Q];
                    post_collision_of(before, h);
                    const auto share = corner_populations<S>(
                        corner.corner, k, m, corner_temperatures(corner, columns, k, m), h, parameters, out);
                    missing.mass += share.mass;
                    missing.energy += share.energy;
                    if (has_cell(lattice.address, x, y)) {
                        const auto cell = lattice.cell(x, y, 0);
                        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { cell.set_post_collision(i, out[i]); });
                    }
                });
    constexpr EnteringSums sums = corner_sums<S>();
    const EnteringCorrection<Real> correction = restoring(missing, sums, !corner.corner.is_mixed());
    over_corner(lattice, corner.x, corner.y, corner.corner.outward,
                [&](int k, int m, const CellView<S, Real, Stored>&, int x, int y) {
                    if (!has_cell(lattice.address, x, y)) {
                        return;
                    }
                    const auto cell = lattice.cell(x, y, 0);
                    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                        constexpr int cx = S::c[i][0], cy = S::c[i][1];
                        if (corner.corner.leaves(-cx, -cy, k, m)) {
                            cell.set_post_collision(
                                i, cell.post_collision(i) + correction.of(Stencil<S>::w(i), cx * cx + cy * cy));
                        }
                    });
                });
}

/// Of the corner at the lower (0) or upper (1) end of a wall the part of exchanged_energy() that a column has: what
/// leaves from the cells as far from the other wall as the column, and what enters to such cells. So a block that has
/// the column has all of it in its halo.
template <class S, class Real, class Stored>
LBM_HD double exchanged_in_corner(const LatticeView<S, Real, Stored>& lattice, const WallColumn& column, int end) {
    const MultispeedWall& wall = column.wall;
    const int distance = end == 0 ? wall.below : wall.above, other = end == 0 ? -1 : 1;
    if (!wall.corner_heat[end] || distance >= wall_depth) {
        return 0;
    }
    MultispeedCorner corner{};
    corner.outward[wall.axis] = wall.outward;
    corner.outward[1 - wall.axis] = other;
    const int x = column.x + (wall.axis == 1 ? other * distance : 0);
    const int y = column.y + (wall.axis == 0 ? other * distance : 0);
    double sum = 0;
    over_corner(lattice, x, y, corner.outward,
                [&](int k, int m, const CellView<S, Real, Stored>& before, int beyond_x, int beyond_y) {
                    const auto beyond = lattice.cell(beyond_x, beyond_y, 0);
                    const int from = wall.axis == 0 ? m : k;  // off the other wall, on both of its sides
                    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                        constexpr int cx = S::c[i][0], cy = S::c[i][1];
                        const int off_other = -other * (wall.axis == 0 ? cy : cx);
                        if (corner.leaves(-cx, -cy, k, m) && off_other - from == distance) {
                            sum += 0.5 * (cx * cx + cy * cy) * double(beyond.post_collision(i));
                        } else if (corner.leaves(cx, cy, k, m) && from - 1 == distance) {
                            sum -= 0.5 * (cx * cx + cy * cy) * double(before.post_collision(i));
                        }
                    });
                });
    return sum;
}

/// Half the sum of f c^2 over the populations that enter the fluid from a column in the next step, less that over those
/// that leave it there; in a corner with an adiabatic wall also over those that pass both. It reads what was stored
/// behind the wall, so that the sums over all columns and steps are the change of the gas's energy to rounding.
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
            if (!column.wall.stays(cx, cy)) {
                return;
            }
            if (into >= k) {
                sum += 0.5 * (cx * cx + cy * cy) * double(beyond.post_collision(i));
            } else if (-into >= k) {
                sum -= 0.5 * (cx * cx + cy * cy) * double(mirror.post_collision(i));
            }
        });
    }
    sum += exchanged_in_corner(lattice, column, 0);
    sum += exchanged_in_corner(lattice, column, 1);
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
