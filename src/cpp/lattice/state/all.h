// The list of the ways to keep the state. A new one is a header here and a place in the list.
#pragma once

#include "../type_list.h"
#include "in_place.h"
#include "two_lattice.h"

namespace lbm {

using States = TypeList<TwoLattice, InPlace>;

}  // namespace lbm
