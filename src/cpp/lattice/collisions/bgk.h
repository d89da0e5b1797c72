// Single relaxation time: K = omega (Bhatnagar, Gross & Krook; Qian, d'Humieres & Lallemand, EPL 17 (1992) 479).
#pragma once

#include "../collide.h"

namespace lbm {

struct BGK {
    static constexpr const char* name = "bgk";

    template <class S, class V, class Real>
    LBM_HD static PairChange<S, V> relax(const PairSums<S, V>& n, V omega, const CollisionParameters<Real>&) {
        const V rate = Real(0.5) * omega;
        PairChange<S, V> relaxed;
        static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
            relaxed.even[p] = rate * n.even[p];
            relaxed.odd[p] = rate * n.odd[p];
        });
        return relaxed;
    }
};

}  // namespace lbm
