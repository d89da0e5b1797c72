// The A-B pattern: a step pulls population i from the neighbour upstream and writes its own slot in the other lattice.
//
// A way to keep the state is a struct with
//   name                what setups call it,
//   first_phase         the first of its phases (place.h): a state that is set lies as after a step of it,
//   phases              how many there are, which steps take turns in,
//   phase_names         how each is called,
//   lattices            how many a block has, each of Q numbers a cell,
//   steps_per_launch    the steps that one launch of its update advances,
//   incoming_slot<S>(phase, i), outgoing_slot<S>(phase, i)   where a step of a phase finds the population that arrives
//   with
//                       velocity i, and where it leaves the one that departs with it,
// and a place in the list of all.h.
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
