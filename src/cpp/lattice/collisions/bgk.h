// BGK collision with a single relaxation time, K = omega (Bhatnagar, Gross & Krook; Qian, d'Humieres & Lallemand, EPL
// 17 (1992) 479).
#pragma once

#include "../collide.h"

namespace lbm {

struct BGK : OneRate {
    static constexpr const char* name = "bgk";

    template <class S, class V, class Parameters>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const Parameters&) {
        const V rate = Scalar<V>(-0.5) * omega;
        PairChange<S, V> change;
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            change.even[p] = rate * n.even[p];
            change.odd[p] = rate * n.odd[p];
        });
        return change;
    }
};

}  // namespace lbm
