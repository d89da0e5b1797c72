// Which moments the populations have after a collision that leaves them no others than follow from density, momentum
// and stress.
#pragma once

namespace lbm {

/// A collision with a member `moment_orders` of this type makes populations that follow from the moments up to second
/// order, so that a cell may keep these instead (moment_state.h).
enum class MomentOrders {
    Second,  // the higher moments are zero
    All      // those of third and higher order are zero in the frame that moves with the fluid
};

/// Numbers that a cell keeps then: density, momentum, and the symmetric moments of second order.
template <class S>
constexpr int moment_count = 1 + S::D + S::D*(S::D + 1) / 2;

/// Whether a collision is one of these.
template <class Collision>
constexpr bool is_fixed_by_moments = requires {
    Collision::moment_orders;
};

}  // namespace lbm
