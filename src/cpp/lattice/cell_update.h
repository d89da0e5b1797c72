// The collide-and-stream update of one cell, or of a SIMD pack of cells, in four calls: load, moments, collide, store.
#pragma once

#include "collide.h"

namespace lbm {

/// Updates one cell. `Cell` is the backend's access to memory: load(h) reads the incoming populations, those of
/// boundary links included, in units of `unit`; force(F) reads the body force and returns whether there is one;
/// store(h) writes the post-collision populations where the next step reads them; compressibility() chooses the
/// equilibrium (inertia.h). A cell that may have an eddy viscosity or a strain rate of velocity gradients has
/// eddy_viscosity(nu) and strain(S) too (eddy_viscosity.h), and keep_velocity(u) for the coming steps.
///
/// D3Q19 in float32 moves 152 bytes per cell and does about 200 floating-point operations with BGK, 260 with MRT.
template <class S, class Collision, class Cell, class Parameters>
LBM_HD void update_cell(Cell& cell, const Parameters& parameters) {
    using V = typename Cell::Value;
    V h[S::Q];
    V force[S::D];
    cell.load(h);
    const bool forced = cell.force(force);
    const PairSums<S, V> sums = pair_sums<S>(h);
    const Moments<S, V> moments = moments_for<S, Collision>(h, sums, force, forced, Cell::unit, cell.compressibility());
    if constexpr (knows_eddy_viscosity<Cell>) {
        cell.keep_velocity(moments.velocity);
        collide<S, Collision>(h, sums, moments, forced, parameters_in<S::D>(cell, parameters));
    } else {
        collide<S, Collision>(h, sums, moments, forced, parameters);
    }
    cell.store(h);
}

}  // namespace lbm
