// The A-A pattern (Bailey et al., ICPP 2009): even steps read and write the slots of the cell itself, odd steps those
// of its neighbours. In each step a slot is read and written by one cell only, so that one lattice suffices and the
// order of the cells does not matter.
#pragma once

#include "../stencil.h"
#include "place.h"

namespace lbm {

struct InPlace {
    static constexpr const char* name = "in-place";
    static constexpr Phase first_phase = Phase::AAEven;
    static constexpr int phases = 2;
    static constexpr const char* phase_names[] = {"even", "odd"};
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
