// The update of one cell, or of a pack of cells side by side, in four calls.
#pragma once

#include "collide.h"

namespace lbm {

/// `Cell` is how a backend reaches memory: load(h) brings the arriving populations (streaming and boundary links) in
/// units of `unit`, force(F) the body force, store(h) puts the collided ones where the next step finds them.
///
/// D3Q19 in float32 moves 152 bytes a cell and does about 200 floating-point operations with BGK, 260 with MRT.
template <class S, class Collision, class Cell, class Parameters>
LBM_HD void update_cell(Cell& cell, const Parameters& parameters) {
    using V = typename Cell::Value;
    V h[S::Q];
    V force[S::D];
    cell.load(h);
    const bool forced = cell.force(force);
    const PairSums<S, V> sums = pair_sums<S>(h);
    const Moments<S, V> moments = compute_moments<S>(h[0], sums, force, forced, Cell::unit);
    collide<S, Collision>(h, sums, moments, forced, parameters);
    cell.store(h);
}

}  // namespace lbm
