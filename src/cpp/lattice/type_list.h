// Compile-time lists of types. Stencils, collisions, boundary conditions, models and streaming patterns each have one,
// and all that depends on their members is derived from it.
#pragma once

#include "portability.h"

namespace lbm {

/// Represents a type as a value, which can be passed to a function.
template <class T>
struct Type {
    using type = T;
};

template <class... Members>
struct TypeList {
    static constexpr int size = sizeof...(Members);
};

namespace detail {

template <class T, class... Members>
constexpr int position_among() {
    constexpr bool same[] = {IsSame<T, Members>::value...};
    for (int k = 0; k < int(sizeof...(Members)); ++k) {
        if (same[k]) {
            return k;
        }
    }
    return -1;
}

template <class T, class... Members>
constexpr int position_of(TypeList<Members...>) {
    return position_among<T, Members...>();
}

}  // namespace detail

/// The index of a type in a list; -1 if it is not a member.
template <class List, class T>
constexpr int position_in = detail::position_of<T>(List{});

/// Calls visit(Type<Member>{}) for each member in turn.
template <class... Members, class Visit>
LBM_HD constexpr void for_types(TypeList<Members...>, Visit&& visit) {
    (visit(Type<Members>{}), ...);
}

}  // namespace lbm
