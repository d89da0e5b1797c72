// What the turbulence models of velocity gradients are made of: the velocities that a block keeps, and their
// derivatives.
#pragma once

#include "../address.h"
#include "../arithmetic.h"
#include "../streaming.h"

namespace lbm {

/// Keeps quotients of sums of squares from 0 / 0; below what gradients above 1e-6 contribute by far.
constexpr double least_divisor = 1e-36;

/// The rows of velocities behind the populations of a block, and behind its temperatures. They have a halo of one cell
/// on all sides but along self-periodic axes. Other blocks, or an update that takes gradients, may read those of a step
/// while those of the next one are written, which have a slot of their own therefore, or lie in the other lattice.
struct VelocityRows {
    Index first;        // from population 0 of a row to the first component in slot 0; 0: there are none
    Index stride;       // from a component to the next
    Index slot_stride;  // from a phase to the next; 0 with one slot

    /// From population 0 of a cell to component d after a step of `phase`.
    LBM_HD Index from_cell(Phase phase, int d) const { return first + phase_index(phase) * slot_stride + d * stride; }
    /// Offset of component d in cell (x, y, z), which may lie in the halo.
    LBM_HD Index offset(const Address& a, Phase phase, int d, int x, int y, int z) const {
        return a.row(y, z, 0) + from_cell(phase, d) + (a.self_periodic[0] ? Address::wrapped(x, a.nx) : x);
    }
};

/// of[a][b] is du_a/dx_b.
template <class V, int D>
struct VelocityGradient {
    V of[D][D];
};

/// The central difference between the two neighbours along an axis.
template <class V>
LBM_HD V central_difference(V ahead, V behind) {
    return Scalar<V>(0.5) * (ahead - behind);
}

}  // namespace lbm
