// What a boundary condition is made of: a struct with a name, rules, and maybe a formula, in a file of its own.
//
//   name             by which setups call it
//   precedence       where a link leaves through several faces, the face that prescribes most governs it; 0: the
//                    condition prescribes nothing, and only brings the link back into the box
//   value            what a user gives for each cell of a face or body; if a number, also `preset`, for who gives none
//   redirect<S>(...) of conditions of precedence 0: where a link that leaves through a face comes from
//   incoming<S>(...) the formula of a link, for those that do not just send back what arrives; then also
//   needs_moments    whether the formula reads the cell's density or velocity,
//   needs_streamed   whether it reads what has just streamed in, and
//   link_value<S>()  the number stored with each link, made by the host from the user's value.
//
// A link's formula is local to its cell: what it reads lies there, in the state after the last step. So it may be
// applied to all links between two steps, or by the update of the cell itself.
//
// A condition may have a boundary cell's formula in place of that, which makes all populations that come in through the
// face into the cell before it, when all others have come in. It runs between two steps only, and needs a precedence
// above 0. Characteristic and gradient-based boundaries are of this form:
//
//   stored                                how many numbers each cell before the face keeps from step to step
//   start<S>(cell, stored)                those of a state that was set
//   complete<S>(cell, stored, incoming)   those after the step to come, and the populations, as deviations from rest;
//                                         of `incoming` only those count that come in through the face
//
// `cell` is a boundary cell as below. Its numbers are kept as exactly as the arithmetic is, move between blocks, and
// are part of checkpoints.
#pragma once

#include "../stencil.h"

namespace lbm::boundary {

/// What a user gives.
enum class Value { None, Velocity, Number };

/// What the host makes the number of a link of.
struct Wall {
    double value[3];           // velocity, or a number in the first place
    double reference_density;  // of the fluid at rest
};

/// The link of a cell along which population i comes in; all but the moments are deviations from rest.
template <class Real>
struct Link {
    int i;
    Real value;     // of link_value
    Real distance;  // from the cell's centre to the wall, over the length of the link; 1/2 where the wall is half-way
    bool meets_fluid;  // whether what streams in towards the wall comes from the fluid, not off another wall
};

/// Of the cell, after the last step; 0 unless the formula needs them.
template <class Real>
struct CellMoments {
    Real density, velocity[3], speed2;
};

// What a boundary cell offers, `cell` in the arguments of its formula. `start` finds moments, values and the normal:
//   cell.axis()                 the axis of the face's normal: 0, 1 or 2
//   cell.inward()               the inward normal's component along it: 1 or -1
//   cell.value(d)               what the user gives here: a component of a velocity, or a number for d = 0
//   cell.reference_density()    of the fluid at rest
//   cell.moments(k)             CellMoments of the cell (k = 0) and of the next two inwards, after the last step; where
//                               the fluid ends before, of its last cell
//   cell.post_collision(i)            what departed from the cell with velocity i
//   cell.comes_in(i)            whether population i is one that a formula of boundary cells makes
//   cell.streamed(i)            what has just streamed in with velocity i, where that is none
//   cell.stored(k)              number k of the cell before this step
//   cell.stored(k, axis, side)  the same of its neighbour along the face, down (side 0) or up (1) another axis; its own
//                               where the face or the fluid ends

// What a link's formula reads of populations, `f` in its arguments:
//   f.outgoing()  what departed along the link, towards the wall; where the condition redirects the link, what departed
//                 from the cell that it is redirected to
//   f.returning()  what departed with velocity i, away from the wall
//   f.streamed()  what has just streamed into the cell towards the wall, where the link meets fluid

/// Half-way bounce-back of what departed towards a wall that gives the fluid momentum: `push` is
/// 2 w_i c_i . u_w / cs2 times the density at the wall (Ladd, J. Fluid Mech. 271 (1994) 285, eq. 3.3).
template <class Real>
LBM_HD Real bounced_back(Real outgoing, Real wall_momentum) {
    return outgoing + wall_momentum;
}

/// 2 w_i c_i . u_w / cs2.
template <class S>
double wall_momentum_at_unit_density(const Wall& wall, int i) {
    double cu = 0;
    for (int d = 0; d < S::D; ++d) {
        cu += S::c[i][d] * wall.value[d];
    }
    return 2 * Stencil<S>::w(i) * cu / Stencil<S>::cs2;
}

}  // namespace lbm::boundary
