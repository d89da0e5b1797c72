// Defines the state of moments.
#include "moment_kind.h"

namespace lbm::backend {

const StateKind moment_state{"moments", Phase::TwoLattice, 1, 2, 2, make_moment_block, true};

}  // namespace lbm::backend
