// Streaming as a rule of places: in which slot a cell finds an arriving population, and where it leaves a collided one.
//
// Two-lattice pull reads population i from the neighbour upstream and writes its own slot in the other lattice.
// In-place streaming is the A-A pattern (Bailey et al., ICPP 2009): steps alternate between one that works on the
// cell's own slots and one that works on the neighbours'; every slot is read and written by one cell only, so that
// one lattice suffices and no order of the cells matters.
#pragma once

#include "portability.h"
#include "stencils/d3q27.h"

namespace lbm {

enum class Phase : int {
    TwoLattice = 0,      // read neighbours, write own, other lattice
    InPlaceOwn = 1,      // read own slots, write own slots reversed
    InPlaceNeighbor = 2  // read neighbours' reversed slots, write neighbours' slots
};

LBM_HD constexpr Phase next_phase(Phase phase) {
    return phase == Phase::TwoLattice   ? Phase::TwoLattice
           : phase == Phase::InPlaceOwn ? Phase::InPlaceNeighbor
                                        : Phase::InPlaceOwn;
}

/// A slot relative to a cell: `along` times velocity i away, population `slot`.
struct Place {
    int along;
    int slot;
};

/// Where a step of `phase` finds the population that arrives with velocity i.
template <class S>
LBM_HD constexpr Place arriving(Phase phase, int i) {
    return phase == Phase::TwoLattice   ? Place{-1, i}
           : phase == Phase::InPlaceOwn ? Place{0, i}
                                        : Place{-1, Stencil<S>::opposite(i)};
}

/// Where a step of `phase` leaves the population that departs with velocity i.
template <class S>
LBM_HD constexpr Place departing(Phase phase, int i) {
    return phase == Phase::TwoLattice   ? Place{0, i}
           : phase == Phase::InPlaceOwn ? Place{0, Stencil<S>::opposite(i)}
                                        : Place{1, i};
}

namespace detail {

/// What departs with velocity i from a cell arrives with velocity i one step downstream: both name the same slot.
template <class S>
constexpr bool streaming_is_sound(Phase phase) {
    for (int i = 0; i < S::Q; ++i) {
        const Place left = departing<S>(phase, i);
        const Place found = arriving<S>(next_phase(phase), i);
        if (left.slot != found.slot || left.along != found.along + 1) {
            return false;
        }
        const Place first = departing<S>(phase, 1);  // what holds for one velocity holds for all
        if (left.along != first.along || left.slot != (first.slot == 1 ? i : Stencil<S>::opposite(i))) {
            return false;
        }
    }
    return true;
}

}  // namespace detail

static_assert(detail::streaming_is_sound<D3Q27>(Phase::TwoLattice));
static_assert(detail::streaming_is_sound<D3Q27>(Phase::InPlaceOwn));
static_assert(detail::streaming_is_sound<D3Q27>(Phase::InPlaceNeighbor));

}  // namespace lbm
