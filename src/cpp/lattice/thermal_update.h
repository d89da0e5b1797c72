// The update of one cell, or of a SIMD pack of cells, of the hybrid thermal model.
#pragma once

#include "collide.h"
#include "temperature.h"

namespace lbm {

/// Updates the populations and the temperature of one cell. `Cell` is as for update_cell; in addition it has
/// local_temperature(heat), which reads the state before the step, heat_source(heat) and store_temperature(T).
///
/// D3Q19 in float32 moves 160 bytes per cell and does about 100 floating-point operations more than update_cell.
template <class S, class Collision, class Cell, class Parameters, class Heat>
LBM_HD void update_thermal_cell(Cell& cell, const Parameters& parameters, const Heat& heat) {
    using V = typename Cell::Value;
    V h[S::Q];
    V force[S::D];
    cell.load(h);
    cell.force(force);
    const LocalTemperature<S, V> local = cell.local_temperature(heat);
    add_buoyancy<S>(force, local.here, heat);
    const PairSums<S, V> sums = pair_sums<S>(h);
    const Moments<S, V> moments = moments_for<S, Collision>(h, sums, force, true, Cell::unit, cell.compressibility());
    cell.store_temperature(advanced<S>(local, moments.velocity, cell.heat_source(heat)));
    const EnergyCoupling<S, V> coupling{local.here, heat};
    if constexpr (knows_eddy_viscosity<Cell>) {
        cell.keep_velocity(moments.velocity);
        collide<S, Collision>(h, sums, moments, true, parameters_in<S::D>(cell, parameters), coupling);
    } else {
        collide<S, Collision>(h, sums, moments, true, parameters, coupling);
    }
    cell.store(h);
}

}  // namespace lbm
