// The list of the streaming patterns. A new one is a header here, its phases in place.h and a member of the list.
#pragma once

#include "../type_list.h"
#include "in_place.h"
#include "two_lattice.h"

namespace lbm {

using States = TypeList<TwoLattice, InPlace>;

namespace detail {

/// Whether the backends' blocks support all patterns of the list.
template <class... Members>
constexpr bool blocks_keep(TypeList<Members...>) {
    return ((Members::lattices >= 1 && Members::lattices <= 2 && Members::steps_per_launch == 1) && ...);
}

}  // namespace detail

static_assert(detail::blocks_keep(States{}));

}  // namespace lbm
