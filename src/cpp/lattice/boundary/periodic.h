// Periodic face: populations that leave through it enter through the opposite face.
#pragma once

#include "condition.h"

namespace lbm::boundary {

struct Periodic {
    static constexpr const char* name = "periodic";
    static constexpr int precedence = 0;
    static constexpr Value value = Value::None;
    static constexpr Beyond beyond = Beyond::Fluid;

    /// Maps a coordinate outside of 0 <= at < n to its periodic image inside.
    template <class S>
    static void redirect(int /*axis*/, int n, int& at, int& /*i*/) {
        at = at < 0 ? at + n : at - n;
    }
};

}  // namespace lbm::boundary
