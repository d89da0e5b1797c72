// Streaming, written as addressing rules: for each phase of a streaming pattern, the slot from which a cell reads an
// incoming population and the slot to which it writes an outgoing (post-collision) one.
#pragma once

#include "state/all.h"
#include "stencils/d3q27.h"

namespace lbm {

namespace detail {

/// Whether `phase` is one of the phases of a streaming pattern.
template <class State>
LBM_HD constexpr bool is_phase_of(Phase phase) {
    bool found = false;
    static_for<State::phases>([&]<int k>()
                                  LBM_INLINE_LAMBDA { found = found || phase == Phase(int(State::first_phase) + k); });
    return found;
}

/// Calls visit(Type<State>{}) with the streaming pattern of the list that `phase` belongs to.
template <class State, class... Others, class Visit>
LBM_HD constexpr auto with_state_of(Phase phase, TypeList<State, Others...>, const Visit& visit) {
    if constexpr (sizeof...(Others) == 0) {
        return visit(Type<State>{});
    } else {
        return is_phase_of<State>(phase) ? visit(Type<State>{}) : with_state_of(phase, TypeList<Others...>{}, visit);
    }
}

}  // namespace detail

/// The index of a phase among the phases of its streaming pattern.
LBM_HD constexpr int phase_index(Phase phase) {
    return detail::with_state_of(phase, States{}, [&](auto state) LBM_INLINE_LAMBDA {
        return int(phase) - int(decltype(state)::type::first_phase);
    });
}

/// The phase of the step that follows a step of `phase`.
LBM_HD constexpr Phase next_phase(Phase phase) {
    return detail::with_state_of(phase, States{}, [&](auto state) LBM_INLINE_LAMBDA {
        using State = typename decltype(state)::type;
        const int k = int(phase) - int(State::first_phase);
        return Phase(int(State::first_phase) + (k + 1) % State::phases);
    });
}

/// The slot from which a step of `phase` reads the incoming population f_i of a cell.
template <class S>
LBM_HD constexpr NeighborSlot incoming_slot(Phase phase, int i) {
    return detail::with_state_of(phase, States{}, [&](auto state) LBM_INLINE_LAMBDA {
        return decltype(state)::type::template incoming_slot<S>(phase, i);
    });
}

/// The slot to which a step of `phase` writes the post-collision population f*_i of a cell.
template <class S>
LBM_HD constexpr NeighborSlot outgoing_slot(Phase phase, int i) {
    return detail::with_state_of(phase, States{}, [&](auto state) LBM_INLINE_LAMBDA {
        return decltype(state)::type::template outgoing_slot<S>(phase, i);
    });
}

namespace detail {

/// Checks that the slot to which a cell writes f*_i is the one from which its neighbour at x + c_i reads f_i in the
/// next step.
template <class S>
constexpr bool streaming_is_sound(Phase phase) {
    for (int i = 0; i < S::Q; ++i) {
        const NeighborSlot left = outgoing_slot<S>(phase, i);
        const NeighborSlot found = incoming_slot<S>(next_phase(phase), i);
        if (left.slot != found.slot || left.shift != found.shift + 1) {
            return false;
        }
        const NeighborSlot first = outgoing_slot<S>(phase, 1);  // one rule for all velocities
        if (left.shift != first.shift || left.slot != (first.slot == 1 ? i : Stencil<S>::opposite(i))) {
            return false;
        }
    }
    return true;
}

template <class S, class... Members>
constexpr bool states_are_sound(TypeList<Members...>) {
    int expected = 0;  // phases are numbered without gaps
    bool sound = true;
    const auto check = [&]<class State>(Type<State>) {
        sound = sound && int(State::first_phase) == expected;
        expected += State::phases;
        for (int k = 0; k < State::phases; ++k) {
            sound = sound && streaming_is_sound<S>(Phase(int(State::first_phase) + k));
        }
    };
    (check(Type<Members>{}), ...);
    return sound;
}

}  // namespace detail

static_assert(detail::states_are_sound<D3Q27>(States{}));

}  // namespace lbm
