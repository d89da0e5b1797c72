// The words of the rules by which states are kept: the phases of all of them, and where a number lies from a cell.
#pragma once

#include "../portability.h"

namespace lbm {

/// What a step does with the places of populations. The steps of one state take turns in its own phases, which follow
/// one another here.
enum class Phase : int {
    TwoLattice,  // read neighbours, write own, other lattice
    AAEven,      // read own slots, write own slots reversed
    AAOdd        // read neighbours' reversed slots, write neighbours' slots
};

/// A slot relative to a cell: `along` times velocity i away, population `slot`.
struct NeighborSlot {
    int along;
    int slot;
};

}  // namespace lbm
