// The interface of boundary conditions. A condition is a struct in a file of its own, with these members:
//
//   name             the name of the condition in setups
//   precedence       decides which face governs a link that leaves through several faces: the one of the highest
//                    precedence. 0 means that the condition only redirects the link back into the domain
//   value            what a user gives for each cell of a face or body; if a number, `preset` is its default
//   beyond           what the velocity is half a cell or a cell behind the face, for velocity gradients
//   redirect<S>(...) for precedence 0: the cell and velocity from which a link through the face takes its population
//   incoming<S>(...) the formula of a link, unless the post-collision population is just copied; then also
//   needs_moments    whether the formula reads the cell's density or velocity, and
//   link_value<S>()  the number stored with each link, which the host computes from the user's value.
//
// Walls of bodies whose distance is known are no conditions of faces: linear_wall.h has their form.
//
// A link's formula is local: it reads only numbers of its own cell, in the state after the last step. So it may be
// applied to all links between two steps, or within the update of the cell.
//
// Instead of a link formula a condition may have a formula of boundary cells, which computes all populations that enter
// a cell at the face at once, after all its other populations have streamed in. It runs between two steps only, and
// needs a precedence above 0. Characteristic and gradient-based boundaries have this form:
//
//   stored                                how many numbers each boundary cell keeps from step to step
//   cells_read                            of how many cells it reads the moments: 0 to 3, inwards from the own one
//   start<S>(cell, stored)                computes these numbers for a state that was set
//   complete<S>(cell, stored, incoming)   computes these numbers after the next step, and the populations as deviations
//                                         from rest; only those of `incoming` that enter through the face are used
//   replace<S>(cell, f)                   with a member `replaces`: changes all populations that have come into the
//                                         cell, after the formulas of all boundary cells, of which the first counts
//
// `cell` is a boundary cell as below. Its numbers are stored in the arithmetic type, are exchanged between blocks, and
// are part of checkpoints.
#pragma once

#include "../arithmetic.h"
#include "../inertia.h"
#include "../stencil.h"

namespace lbm::boundary {

/// The kind of value that a user gives.
enum class Value { None, Velocity, Number };

/// The velocity that a cell u before a face finds in place of a neighbour's behind it, for its velocity gradient.
enum class Beyond {
    Fluid,        // that of the fluid cell there: the face is none
    Wall,         // linear up to the face, half a cell away, which has the given velocity, or none: 2 u_w - u
    Mirrored,     // u with its normal component reversed
    Cell,         // u: a zero gradient there
    Extrapolated  // linear through u and the cell inwards: the given velocity holds in the centre of the cell
};

/// A user's wall value, from which the host computes the number of each link.
struct Wall {
    double value[3];           // velocity, or a number in the first place
    double reference_density;  // of the fluid at rest
    double inertia;            // density of inertia there (inertia.h)
};

/// The link along which population i enters a cell. Populations are deviations from rest.
template <class Real>
struct Link {
    int i;
    Real value;  // the number made by link_value
};

/// The moments of the cell after the last step; 0 unless the formula needs them.
template <class Real>
struct CellMoments {
    Real density, velocity[3], speed2;
    Real compressibility;  // 0 with the incompressible equilibrium

    /// The density of inertia of the cell, and of another density.
    LBM_HD Real inertia() const { return inertia_of(density); }
    LBM_HD Real inertia_of(Real other) const { return inertia_of_density(other, compressibility); }
};

// The argument `cell` of a boundary-cell formula; `start` may use the normal, the values and the moments only, and
// `replace` the normal, the values, the compressibility and `has_neighbor`:
//   cell.axis()                 axis of the face's normal: 0, 1 or 2
//   cell.inward()               component of the inward normal along that axis: 1 or -1
//   cell.value(d)               the user's value here: component d of a velocity, or a number for d = 0
//   cell.reference_density()    density of the fluid at rest
//   cell.compressibility()      1, or 0 with the incompressible equilibrium (inertia.h)
//   cell.moments(k)             CellMoments after the last step of the cell (k = 0) and of the next two inwards, or of
//                               the last fluid cell if the fluid ends before; k < cells_read
//   cell.post_collision(i)      post-collision population f*_i of the cell
//   cell.comes_in(i)            whether population i is computed by a boundary-cell formula
//   cell.streamed(i)            incoming population f_i, just streamed in; only where comes_in(i) is false
//   cell.known(i)               streamed(i), or post_collision(i) where comes_in(i)
//   cell.stored(k)              number k of the cell before this step
//   cell.stored(k, axis, side)  the same of its neighbour along the face, down (side 0) or up (1) another axis; the
//                               cell's own number where the face or the fluid ends
//   cell.has_neighbor(axis, side) whether there is such a neighbour

// The argument `f` of a link formula, through which it reads populations:
//   f.outgoing()   post-collision population towards the wall; if the condition redirects the link, that of the cell to
//                  which it is redirected
//   f.returning()  post-collision population f*_i, away from the wall

/// Half-way bounce-back off a wall that may move: the wall momentum term is 2 w_i c_i . u_w / cs2 times the density at
/// the wall (Ladd, J. Fluid Mech. 271 (1994) 285, eq. 3.3).
template <class V>
LBM_HD V bounced_back(V outgoing, Scalar<V> wall_momentum) {
    return outgoing + wall_momentum;
}

/// The wall momentum term 2 w_i c_i . u_w / cs2 at density 1.
template <class S>
double wall_momentum_at_unit_density(const Wall& wall, int i) {
    double cu = 0;
    for (int d = 0; d < S::D; ++d) {
        cu += S::c[i][d] * wall.value[d];
    }
    return 2 * Stencil<S>::w(i) * cu / Stencil<S>::cs2;
}

}  // namespace lbm::boundary
