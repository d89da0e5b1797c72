// The state of moments as a run-time value, and what goes with it.
#pragma once

#include <stdexcept>

#include "kinds.h"
#include "state_kind.h"

namespace lbm::backend {

/// Makes a block whose state is moments; in devices.cpp.
std::unique_ptr<BlockState> make_moment_block(const BlockSpec& spec, const DeviceOptions& options);

/// A cell keeps moments (lattice/moment_state.h), in two lattices, and an update advances two steps, in two dimensions
/// six.
extern const StateKind moment_state, moment_state_2d;
/// The same in two lattices that overlap.
extern const StateKind moment_state_in_place, moment_state_in_place_2d;

/// Whether a stencil and a collision may keep their state as moments.
template <class S, class Collision>
constexpr bool may_keep_moments = !Stencil<S>::multispeed && CubicPairs<S>::edges > 0 && is_fixed_by_moments<Collision>;

/// Calls visitor with an object of the collision's type, which must be one that is fixed by moments.
template <class Visitor>
void with_moment_collision(CollisionKind kind, Visitor&& visitor) {
    bool found = false;
    for_types(Collisions{}, [&](auto member) {
        using Collision = typename decltype(member)::type;
        if constexpr (is_fixed_by_moments<Collision>) {
            if (kind == collision_kind<Collision>) {
                found = true;
                visitor(Collision{});
            }
        }
    });
    if (!found) {
        throw std::logic_error("the populations of this collision do not follow from moments");
    }
}

}  // namespace lbm::backend
