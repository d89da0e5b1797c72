// Selects template arguments at run time: maps an index in the list of stencils, collisions or models, and the codes of
// the arithmetic and storage types, to C++ types.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../lattice/collisions/all.h"
#include "../lattice/models.h"
#include "../lattice/stencils/all.h"
#include "../lattice/storage.h"
#include "../lattice/turbulence/all.h"
#include "../lattice/turbulence/gradient_terms.h"

namespace lbm::backend {

/// Indices in the lists.
enum class StencilKind : int {};
enum class CollisionKind : int {};
enum class ModelKind : int {};
enum class TurbulenceKind : int {};

/// Of a block without an eddy viscosity of velocity gradients.
constexpr TurbulenceKind no_turbulence = TurbulenceKind(-1);

/// Of a collision that is no member (BlockSpec::custom): whoever looks it up in the list hears of it.
constexpr CollisionKind no_member = CollisionKind(-1);

template <class S>
constexpr StencilKind stencil_kind = StencilKind(position_in<Stencils, S>);
template <class Collision>
constexpr CollisionKind collision_kind = CollisionKind(position_in<Collisions, Collision>);
template <class Model>
constexpr ModelKind model_kind = ModelKind(position_in<Models, Model>);

template <class Model>
constexpr TurbulenceKind turbulence_kind = TurbulenceKind(position_in<TurbulenceModels, Model>);

namespace detail {

template <class First, class... Rest, class Visitor>
decltype(auto) visit_at(int position, TypeList<First, Rest...>, Visitor&& visitor) {
    if constexpr (sizeof...(Rest) == 0) {
        if (position != 0) {
            throw std::logic_error("no member of the list has this place");
        }
        return visitor(Type<First>{});
    } else {
        return position == 0 ? visitor(Type<First>{})
                             : visit_at(position - 1, TypeList<Rest...>{}, std::forward<Visitor>(visitor));
    }
}

}  // namespace detail

/// Calls visitor(Type<Member>{}) with the member of a list at an index.
template <class List, class Visitor>
decltype(auto) with_type(int position, Visitor&& visitor) {
    return detail::visit_at(position, List{}, std::forward<Visitor>(visitor));
}

/// Calls visitor with an object of the stencil's type.
template <class Visitor>
decltype(auto) with_stencil(StencilKind kind, Visitor&& visitor) {
    return with_type<Stencils>(int(kind),
                               [&](auto s) -> decltype(auto) { return visitor(typename decltype(s)::type{}); });
}

/// Calls visitor with an object of the collision's type.
template <class Visitor>
decltype(auto) with_collision(CollisionKind kind, Visitor&& visitor) {
    return with_type<Collisions>(int(kind),
                                 [&](auto c) -> decltype(auto) { return visitor(typename decltype(c)::type{}); });
}

/// Calls visitor with an object of the turbulence model's type, which must be one of velocity gradients.
template <class Visitor>
void with_gradient_model(TurbulenceKind kind, Visitor&& visitor) {
    with_type<TurbulenceModels>(int(kind), [&](auto member) {
        using Model = typename decltype(member)::type;
        if constexpr (Model::takes_gradients) {
            visitor(Model{});
        } else {
            throw std::logic_error("this turbulence model needs no velocity gradients");
        }
    });
}

/// Calls visitor with an object of the type that computes what a block takes of velocity gradients: the eddy viscosity
/// of a turbulence model if it has one, and the strain rate if it takes that.
template <class Visitor>
void with_gradient_terms(TurbulenceKind kind, bool strain, Visitor&& visitor) {
    if (kind == no_turbulence) {
        visitor(GradientTerms<void, true>{});
        return;
    }
    with_gradient_model(kind, [&](auto model) {
        if (strain) {
            visitor(GradientTerms<decltype(model), true>{});
        } else {
            visitor(GradientTerms<decltype(model), false>{});
        }
    });
}

/// The names of a list's members, in their order.
template <class List>
const std::vector<std::string>& names_of() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for_types(List{}, [&](auto member) { all.emplace_back(decltype(member)::type::name); });
        return all;
    }();
    return names;
}

/// Number types, in the order of their widths.
enum class NumberKind { Float16, Float32, Float64 };

inline std::size_t size_of(NumberKind kind) {
    return kind == NumberKind::Float16 ? 2 : kind == NumberKind::Float32 ? 4 : 8;
}

/// An arithmetic type with the type in which populations are stored.
template <class Real_, class Stored_>
struct Numbers {
    using Real = Real_;
    using Stored = Stored_;
};
using NumberPairs = TypeList<Numbers<float, float>, Numbers<double, double>, Numbers<float, Half>,
                             Numbers<double, float>, Numbers<double, Half>>;

template <class T>
constexpr NumberKind number_kind = sizeof(T) == 2   ? NumberKind::Float16
                                   : sizeof(T) == 4 ? NumberKind::Float32
                                                    : NumberKind::Float64;

/// Calls visitor with an object of the pair's type. Throws std::logic_error for a storage wider than the arithmetic.
template <class Visitor>
decltype(auto) with_numbers(NumberKind precision, NumberKind storage, Visitor&& visitor) {
    int place = -1, k = 0;
    for_types(NumberPairs{}, [&](auto pair) {
        using Pair = typename decltype(pair)::type;
        if (number_kind<typename Pair::Real> == precision && number_kind<typename Pair::Stored> == storage) {
            place = k;
        }
        ++k;
    });
    return with_type<NumberPairs>(
        place, [&](auto pair) -> decltype(auto) { return visitor(typename decltype(pair)::type{}); });
}

/// Calls visitor with a number of the arithmetic type.
template <class Visitor>
decltype(auto) with_real(NumberKind precision, Visitor&& visitor) {
    return with_numbers(precision, precision,
                        [&](auto numbers) -> decltype(auto) { return visitor(typename decltype(numbers)::Real{}); });
}

/// Calls visitor with a number of the size in which populations are stored.
template <class Visitor>
void with_stored(NumberKind kind, Visitor&& visitor) {
    if (kind == NumberKind::Float16) {
        visitor(UInt16{});
    } else {
        with_real(kind, visitor);
    }
}

}  // namespace lbm::backend
