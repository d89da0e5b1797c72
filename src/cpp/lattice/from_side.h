// Which populations of a stencil come in to a cell from one side of it.
#pragma once

#include "portability.h"

namespace lbm {

/// The populations that come in to a cell from one side of an axis: the lower one, 0, or the upper one, 1.
template <class S, int axis, int side>
struct FromSide {
    LBM_HD static constexpr bool has(int i) { return S::c[i][axis] == (side == 0 ? 1 : -1); }
    /// The place of a population among them.
    LBM_HD static constexpr int rank(int i) {
        int sum = 0;
        for (int k = 0; k < i; ++k) {
            sum += has(k) ? 1 : 0;
        }
        return sum;
    }
    static constexpr int count = rank(S::Q);
    /// Their bits among those of a cell's links.
    LBM_HD static constexpr UInt32 bits() {
        UInt32 found = 0;
        for (int i = 0; i < S::Q; ++i) {
            found |= has(i) ? 1U << i : 0;
        }
        return found;
    }
};

/// Those that come from the layer above.
template <class S>
using FromAbove = FromSide<S, S::D - 1, 1>;

}  // namespace lbm
