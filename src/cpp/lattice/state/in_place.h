// The A-A pattern (Bailey et al., ICPP 2009): steps alternate between one that works on the cell's own slots and one
// that works on the neighbours'. Every slot is read and written by one cell only, so that one lattice suffices and no
// order of the cells matters.
#pragma once

#include "../stencil.h"
#include "place.h"

namespace lbm {

struct InPlace {
    static constexpr const char* name = "in-place";
    static constexpr Phase first_phase = Phase::AAEven;
    static constexpr int phases = 2;
    static constexpr const char* phase_names[] = {"own", "neighbor"};
    static constexpr int lattices = 1;
    static constexpr int steps_per_launch = 1;

    template <class S>
    LBM_HD static constexpr NeighborSlot incoming_slot(Phase phase, int i) {
        return phase == Phase::AAEven ? NeighborSlot{0, i} : NeighborSlot{-1, Stencil<S>::opposite(i)};
    }
    template <class S>
    LBM_HD static constexpr NeighborSlot outgoing_slot(Phase phase, int i) {
        return phase == Phase::AAEven ? NeighborSlot{0, Stencil<S>::opposite(i)} : NeighborSlot{1, i};
    }
};

}  // namespace lbm
