// Defines the states of moments.
#include "moment_kind.h"

namespace lbm::backend {

const StateKind moment_state{"moments", Phase::TwoLattice, 1, 2, 2, make_moment_block, true};
const StateKind moment_state_2d{"moments", Phase::TwoLattice, 1, 2, 6, make_moment_block, true};
const StateKind moment_state_in_place{"moments", Phase::TwoLattice, 1, 2, 2, make_moment_block, true, true};
const StateKind moment_state_in_place_2d{"moments", Phase::TwoLattice, 1, 2, 6, make_moment_block, true, true};

}  // namespace lbm::backend
