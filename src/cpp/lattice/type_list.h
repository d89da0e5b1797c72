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

template <class List, class T>
struct Position {
    static constexpr int value = -1;
};

template <class T, class First, class... Rest>
struct Position<TypeList<First, Rest...>, T> {
    static constexpr int behind = Position<TypeList<Rest...>, T>::value;
    static constexpr int value = IsSame<T, First>::value ? 0 : behind < 0 ? -1 : behind + 1;
};

}  // namespace detail

/// The index of a type in a list; -1 if it is not a member.
template <class List, class T>
constexpr int position_in = detail::Position<List, T>::value;

/// Calls visit(Type<Member>{}) for each member in turn.
template <class... Members, class Visit>
LBM_HD constexpr void for_types(TypeList<Members...>, Visit&& visit) {
    (visit(Type<Members>{}), ...);
}

}  // namespace lbm
