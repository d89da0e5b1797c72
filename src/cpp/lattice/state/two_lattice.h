// The A-B pattern, a two-population pull: a step reads population i from the upstream neighbour and writes it to slot i
// of its own cell in the other lattice.
//
// A streaming pattern is a struct with
//   name                the name in setups,
//   first_phase         the first of its phases (place.h); a state that is set is stored as after a step of this phase,
//   phases              how many phases there are, through which the steps cycle,
//   phase_names         the name of each,
//   lattices            how many lattices a block has, each of Q numbers per cell,
//   steps_per_launch    how many steps one launch of its update advances,
//   incoming_slot<S>(phase, i)   the slot from which a step of a phase reads the incoming population f_i,
//   outgoing_slot<S>(phase, i)   the slot to which it writes the post-collision population f*_i,
// and it is a member of the list in all.h.
#pragma once

#include "place.h"

namespace lbm {

struct TwoLattice {
    static constexpr const char* name = "two-lattice";
    static constexpr Phase first_phase = Phase::TwoLattice;
    static constexpr int phases = 1;
    static constexpr const char* phase_names[] = {"two-lattice"};
    static constexpr int lattices = 2;
    static constexpr int steps_per_launch = 1;

    template <class S>
    LBM_HD static constexpr NeighborSlot incoming_slot(Phase, int i) {
        return {-1, i};
    }
    template <class S>
    LBM_HD static constexpr NeighborSlot outgoing_slot(Phase, int i) {
        return {0, i};
    }
};

}  // namespace lbm
