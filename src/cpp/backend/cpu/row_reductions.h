// Sums and extremes over the fluid cells of a block on the CPU, row by row, so that they do not depend on the number of
// threads.
#pragma once

#include <vector>

#include "../../lattice/inertia.h"
#include "../block_state.h"
#include "../wall_links.h"

namespace lbm::cpu {

/// `over_rows(body)` calls body(y, z, row), `for_fluid_row(y, z, visit)` calls visit(x, rho - 1, u), and
/// heat(x, y, z, rho - 1) gives the temperature, or the internal energy of a gas.
template <class Real, int D, class OverRows, class ForFluidRow, class Heat>
backend::Totals totals_of(Index rows, double compressibility, OverRows&& over_rows, ForFluidRow&& for_fluid_row,
                          Heat&& heat) {
    std::vector<backend::Totals> of_row(static_cast<std::size_t>(rows));
    over_rows([&](int y, int z, Index row) {
        backend::Totals sum{};
        for_fluid_row(y, z, [&](int x, Real deviation, const Real* u) {
            const double inertia = inertia_of_deviation(double(deviation), compressibility);
            sum.mass += 1 + double(deviation);
            sum.heat += heat(x, y, z, deviation);
            for (int d = 0; d < D; ++d) {
                sum.momentum[d] += inertia * u[d];
                sum.energy += 0.5 * inertia * double(u[d]) * u[d];
            }
        });
        of_row[std::size_t(row)] = sum;
    });
    backend::Totals sum{};
    for (const backend::Totals& part : of_row) {
        sum.join(part);
    }
    return sum;
}

/// `temperature(x, y, z)` is that of the cell, or a NaN, and `is_valid(x, y, z)` says whether what the cell has beside
/// density and velocity is valid.
template <class Real, int D, class OverRows, class ForFluidRow, class Temperature, class IsValid>
backend::Extremes extremes_of(Index rows, int nx, OverRows&& over_rows, ForFluidRow&& for_fluid_row,
                              Temperature&& temperature, IsValid&& is_valid) {
    std::vector<backend::Extremes> of_rows(static_cast<std::size_t>(rows));
    over_rows([&](int y, int z, Index row) {
        backend::Extremes own = backend::Extremes::of_none();
        for_fluid_row(y, z, [&](int x, Real deviation, const Real* u) {
            Real speed2 = 0;
            for (int d = 0; d < D; ++d) {
                speed2 += u[d] * u[d];
            }
            const bool valid = backend::state_is_valid(deviation, speed2) && is_valid(x, y, z);
            own.add(double(row * nx + x), double(deviation), double(speed2), temperature(x, y, z), valid);
        });
        of_rows[std::size_t(row)] = own;
    });
    backend::Extremes all = backend::Extremes::of_none();
    for (const backend::Extremes& own : of_rows) {
        all.join(own);
    }
    return all;
}

}  // namespace lbm::cpu
