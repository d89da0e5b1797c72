// Free slip: a wall without friction, which reflects populations specularly.
#pragma once

#include "condition.h"

namespace lbm::boundary {

struct FreeSlip {
    static constexpr const char* name = "free-slip";
    static constexpr int precedence = 0;
    static constexpr Value value = Value::None;
    static constexpr Beyond beyond = Beyond::Mirrored;

    /// Mirrors the cell's coordinate along `axis` and the velocity at the face.
    template <class S>
    static void redirect(int axis, int n, int& at, int& i) {
        at = at < 0 ? -1 - at : 2 * n - 1 - at;
        i = Stencil<S>::mirror(i, axis);
    }
};

}  // namespace lbm::boundary
