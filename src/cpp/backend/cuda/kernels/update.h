// The update kernel of the isothermal and hybrid thermal models, with one thread for V cells of a row.
#pragma once

#include "../../../lattice/cell_update.h"
#include "../../../lattice/collisions/all.h"
#include "../../../lattice/thermal_update.h"
#include "../../../lattice/turbulence/all.h"
#include "dependent_launch.h"
#include "row_cells.h"
#include "row_eddy_viscosity.h"
#include "row_order.h"
#include "row_temperatures.h"

namespace lbm::cuda {

template <bool hybrid_thermal, class S, class Real, class Stored, int V, class Arguments>
struct TemperaturesOf {
    using type = NoTemperatures;
};
template <class S, class Real, class Stored, int V, class Arguments>
struct TemperaturesOf<true, S, Real, Stored, V, Arguments> {
    using type = RowTemperatures<S, Real, Stored, V, Arguments>;
};

template <class S, class Real, class Stored, int V, int self_periodic, bool whole_packs, class Parameters>
struct EddyViscositiesOf {
    using type = NoEddyViscosity;
    static constexpr bool take_neighbors = false;
};
template <class S, class Real, class Stored, int V, int self_periodic, bool whole_packs, class Parameters>
requires requires { Parameters::keeps_velocity; }
struct EddyViscositiesOf<S, Real, Stored, V, self_periodic, whole_packs, Parameters> {
    using type = RowEddyViscosity<S, Real, Stored, V, self_periodic, whole_packs, UpdateArguments<Real, Parameters>>;
    static constexpr bool take_neighbors = Parameters::renews_terms;
};

/// Updates rows; blockIdx.x counts the pieces of a row, then groups of blockDim.y rows, blockIdx.y the members.
template <class S, class Collision, class Real, class Stored, class Parameters, int V, int self_periodic, Phase phase,
          Forcing forcing, bool end_sums, int row_ends, bool hybrid_thermal, RowSpan span, bool whole_packs, int pitch,
          int threads, int blocks, int members = 1>
__global__ void __launch_bounds__(threads, blocks)
    update(const __grid_constant__ Members<members, UpdateArguments<Real, Parameters>> all) {
    const UpdateArguments<Real, Parameters>& a = all.own();
    const unsigned rows = unsigned(a.rows.ny) * unsigned(a.rows.nz);
    const unsigned pieces =
        span != RowSpan::Several ? 1 : (unsigned(a.address.nx) + V * blockDim.x - 1) / (V * blockDim.x);
    const unsigned group = blockIdx.x / pieces;
    const unsigned row = group * blockDim.y + threadIdx.y;
    using EddyViscositiesHere = EddyViscositiesOf<S, Real, Stored, V, self_periodic, whole_packs, Parameters>;
    constexpr RowOrder order = row_order<Real, phase, EddyViscositiesHere::take_neighbors, hybrid_thermal>;
    const RowAt at = row_in_order<order>(min(row, rows - 1), a.rows, a.inverse_ny);
    const int z = a.rows.z + int(at.z) * a.rows.step_z;
    const int y = a.rows.y + int(at.y) * a.rows.step_y;
    const int x = int((blockIdx.x - group * pieces) * blockDim.x + threadIdx.x) * V;
    using Cells = RowCells<S, Real, Stored, V, self_periodic, phase, forcing, end_sums, row_ends, threads, span,
                           whole_packs, pitch, UpdateArguments<Real, Parameters>>;
    Cells cells(a, x, y, z, row < rows);
    using Temperatures =
        typename TemperaturesOf<hybrid_thermal, S, Real, Stored, V, UpdateArguments<Real, Parameters>>::type;
    Temperatures temperatures(a, x, y, z, row < rows);
    using EddyViscosities = typename EddyViscositiesHere::type;
    EddyViscosities viscosities(a, x, y, z, row < rows);
    __shared__ typename Cells::Shared shared;
    let_next_kernel_begin();
    wait_for_kernel_before();
    viscosities.fetch();
    temperatures.fetch();
    cells.fetch(shared);
    if constexpr (S::D == 3) {  // the few populations of two dimensions have room in the registers
        const Index row_bytes = a.address.row_stride * Index(sizeof(Stored));
        const Index layer_bytes = row_bytes * (a.address.ny + 2 * a.address.halo_y);
        const RowsAhead ahead = ahead_in_order<order>(row, at, a.rows, a.rows_ahead, row_bytes, layer_bytes);
        if (ahead.any) {
            if constexpr (order.line_by_line) {
                cells.prefetch_row_ahead(ahead.bytes);
            } else {
                cells.prefetch_ahead(ahead.bytes);
            }
        }
    }
    temperatures.gather();
    // A loop is as fast as V copies of the code, and compiles in half of the time. Two cells per iteration where two
    // float16 numbers share a register, and in double precision, where they hide each other's latency.
    constexpr int together = V > 1 && (sizeof(Stored) == sizeof(Half) || sizeof(Real) == sizeof(double)) ? 2 : 1;
#pragma unroll 1
    for (int k = 0; k < V; k += together) {
        static_for<together>([&]<int l>() {
            using Lane = typename Cells::template Lane<l>;
            if constexpr (hybrid_thermal && EddyViscosities::is_known) {
                using ThermalCell = ThermalLane<Lane, Temperatures, S, l>;
                EddyViscosityLane<ThermalCell, EddyViscosities, l> lane{{{cells}, temperatures}, viscosities};
                update_thermal_cell<S, Collision>(lane, a.parameters, a.heat);
            } else if constexpr (EddyViscosities::is_known) {
                EddyViscosityLane<Lane, EddyViscosities, l> lane{{cells}, viscosities};
                update_cell<S, Collision>(lane, a.parameters);
            } else if constexpr (hybrid_thermal) {
                ThermalLane<Lane, Temperatures, S, l> lane{{cells}, temperatures};
                update_thermal_cell<S, Collision>(lane, a.parameters, a.heat);
            } else {
                Lane lane{cells};
                update_cell<S, Collision>(lane, a.parameters);
            }
        });
        if constexpr (together < V) {
            cells.template rotate<together>();
            temperatures.template rotate<together>();
            viscosities.template rotate<together>();
        }
    }
    temperatures.put();
    viscosities.put();
    cells.put(shared);
}

}  // namespace lbm::cuda
