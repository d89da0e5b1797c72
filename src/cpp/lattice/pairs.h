// Populations as pairs of opposite velocities. Even moments depend on the sums of the pairs only and odd moments on the
// differences only, which halves the work of every collision.
#pragma once

#include "arithmetic.h"
#include "stencil.h"

namespace lbm {

/// The sum and the difference of the populations of each pair.
template <class S, class V>
struct PairSums {
    V even[Stencil<S>::pairs];  // f_(2p+1) + f_(2p+2)
    V odd[Stencil<S>::pairs];   // f_(2p+1) - f_(2p+2)
};

/// A change of the populations: the first velocity of pair p changes by even + odd, the second by even - odd.
template <class S, class V>
struct PairChange {
    V rest;
    V even[Stencil<S>::pairs];
    V odd[Stencil<S>::pairs];
};

template <class S, class V>
LBM_HD PairSums<S, V> pair_sums(const V (&h)[S::Q]) {
    PairSums<S, V> sums;
    static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
        sums.even[p] = h[2 * p + 1] + h[2 * p + 2];
        sums.odd[p] = h[2 * p + 1] - h[2 * p + 2];
    });
    return sums;
}

/// Adds a change to the populations.
template <class S, class V>
LBM_HD void apply(const PairChange<S, V>& change, V (&h)[S::Q]) {
    h[0] = h[0] + change.rest;
    static_for<Stencil<S>::pairs>([&]<int p>() LBM_INLINE_LAMBDA {
        h[2 * p + 1] = h[2 * p + 1] + (change.even[p] + change.odd[p]);
        h[2 * p + 2] = h[2 * p + 2] + (change.even[p] - change.odd[p]);
    });
}

/// The product c . a with the first velocity c of pair p.
template <class S, int p, class V>
LBM_HD V along_pair(const V (&a)[S::D]) {
    constexpr int i = 2 * p + 1;
    constexpr int first = S::c[i][0] != 0 ? 0 : S::c[i][1] != 0 ? 1 : 2;
    V sum = scaled<S::c[i][first]>(a[first]);
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        if constexpr (d > first) {
            accumulate<S::c[i][d]>(sum, a[d]);
        }
    });
    return sum;
}

/// The sum of terms[First .. First + Count), added as a balanced tree: in a chain each addition would wait for the one
/// before.
template <int First, int Count, class V, int N>
LBM_HD V total(const V (&terms)[N]) {
    if constexpr (Count == 1) {
        return terms[First];
    } else {
        return total<First, Count / 2>(terms) + total<First + Count / 2, Count - Count / 2>(terms);
    }
}

/// Makes a change carry exactly zero mass and exactly twice the momentum `half_momentum`, by setting the change of the
/// rest population and the odd parts of the axis pairs. Otherwise the weights, rounded to the arithmetic type, would
/// let mass and momentum drift by a fraction of a unit in the last place at every step, always in the same direction.
template <class S, class V>
LBM_HD void enforce_conservation(PairChange<S, V>& change, const V (&half_momentum)[S::D]) {
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        V remainder = half_momentum[d];
        static_for<Stencil<S>::pairs - S::D>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int p = q + S::D;
            accumulate<-S::c[2 * p + 1][d]>(remainder, change.odd[p]);
        });
        change.odd[d] = remainder;
    });
    change.rest = Scalar<V>(-2) * total<0, Stencil<S>::pairs>(change.even);
}

}  // namespace lbm
