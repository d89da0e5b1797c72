// Types that the streaming patterns share: the phases of all patterns, and the slot of a population relative to a cell.
#pragma once

#include "../portability.h"

namespace lbm {

/// The kinds of steps, by the slots that they read and write. The steps of a pattern cycle through its phases, which
/// are adjacent here.
enum class Phase : int {
    TwoLattice,  // A-B pattern: reads f_i in slot i of cell x - c_i, writes f*_i to slot i of x in the other lattice
    AAEven,      // A-A pattern, even step: reads f_i in slot i of x, writes f*_i to slot opposite(i) of x
    AAOdd        // odd step: reads f_i in slot opposite(i) of x - c_i, writes f*_i to slot i of x + c_i
};

/// A slot relative to a cell x: that of population `slot` in the cell x + shift c_i.
struct NeighborSlot {
    int shift;
    int slot;
};

}  // namespace lbm
