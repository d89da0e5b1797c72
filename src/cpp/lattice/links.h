// The place of every link of a cell, through faces of the block too, and what walls send back along a link.
#pragma once

#include "address.h"
#include "arithmetic.h"
#include "streaming.h"

namespace lbm {

/// Offset of the population that departed from (x, y, z) with velocity i in the last step, which was of `phase`.
template <class S>
LBM_HD Index departed_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    const int c[3] = {Stencil<S>::component(i, 0), Stencil<S>::component(i, 1), Stencil<S>::component(i, 2)};
    const int to = x + c[0];
    if (!a.wraps[0] && (to < 0 || to >= a.nx)) {
        return a.side_out(to < 0 ? 0 : 1, Stencil<S>::crossing_rank(i), y, z);
    }
    const Place place = departing<S>(phase, i);
    const int there = x + place.along * c[0];
    return a.row(y + place.along * c[1], z + place.along * c[2], place.slot) +
           (a.wraps[0] ? Address::wrapped(there, a.nx) : there);
}

/// Offset where the step after one of `phase` looks for the population arriving in (x, y, z) with velocity i.
template <class S>
LBM_HD Index arriving_offset(const Address& a, Phase phase, int x, int y, int z, int i) {
    const int c[3] = {Stencil<S>::component(i, 0), Stencil<S>::component(i, 1), Stencil<S>::component(i, 2)};
    const int from = x - c[0];
    if (!a.wraps[0] && (from < 0 || from >= a.nx)) {
        return a.side_in(from < 0 ? 0 : 1, Stencil<S>::crossing_rank(i), y, z);
    }
    const Place place = arriving<S>(next_phase(phase), i);
    const int there = x + place.along * c[0];
    return a.row(y + place.along * c[1], z + place.along * c[2], place.slot) +
           (a.wraps[0] ? Address::wrapped(there, a.nx) : there);
}

/// Half-way bounce-back off a wall moving at u_w; push = 2 w_i c_i . u_w / cs2 of the reflected velocity c_i
/// (Ladd, J. Fluid Mech. 271 (1994) 285, eq. 3.3). With one reference density for a whole moving wall what it takes in
/// one place it gives in another, and a closed box keeps its mass; an inlet takes the density of the cell.
template <class Real>
LBM_HD Real reflected_by_moving_wall(Real departed_opposite, Real push, Real density) {
    return departed_opposite + push * density;
}

/// Anti-bounce-back at a wall of given density; deviations from rest throughout
/// (Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427, section 5; velocity taken in the cell).
template <class Real>
LBM_HD Real reflected_by_pressure(Real departed_opposite, Real w, Real wall_density, Real cu, Real speed2) {
    const Real even = Real(4.5) * (cu * cu) - Real(1.5) * speed2;
    return Real(2) * w * ((wall_density - Real(1)) + wall_density * even) - departed_opposite;
}

/// Share of the difference from the reference density that an outflow takes back in a step. A zero gradient alone
/// leaves the mean density free, and friction at the outlet then lets it grow without end; a little relaxation holds it
/// and reflects few sound waves (after Poinsot & Lele, J. Comput. Phys. 101 (1992) 104, section 4).
constexpr double outflow_relaxation = 0.02;

/// Zero gradient: what departed inside the box enters from outside, less the relaxation towards the reference density.
template <class Real>
LBM_HD Real passed_by_outflow(Real departed_inside, Real w, Real density, Real reference_density) {
    return departed_inside - Real(outflow_relaxation) * w * (density - reference_density);
}

}  // namespace lbm
