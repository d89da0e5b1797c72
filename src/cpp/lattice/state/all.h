// The list of the ways to keep the state. A new one is a header here, its phases in place.h and a place in the list.
#pragma once

#include "../type_list.h"
#include "in_place.h"
#include "two_lattice.h"

namespace lbm {

using States = TypeList<TwoLattice, InPlace>;

namespace detail {

/// What the blocks of the backends can do.
template <class... Members>
constexpr bool blocks_keep(TypeList<Members...>) {
    return ((Members::lattices >= 1 && Members::lattices <= 2 && Members::steps_per_launch == 1) && ...);
}

}  // namespace detail

static_assert(detail::blocks_keep(States{}));

}  // namespace lbm
