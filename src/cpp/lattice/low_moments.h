// The moments up to third order of the populations of a cell but the one at rest, from sums that they share.
#pragma once

#include "cubic_parts.h"

namespace lbm {

/// Sums of four numbers with various signs, from the sums and the differences of two, which they share.
template <class V>
struct SignedSums {
    V sum[2], difference[2];

    LBM_HD SignedSums(V a, V b, V c, V d) : sum{a + b, c + d}, difference{a - b, c - d} {}

    /// a first + b second + c third + d fourth, each of a, b, c and d being +1 or -1.
    template <int a, int b, int c, int d>
    LBM_HD V of() const {
        V result = scaled<a>(a == b ? sum[0] : difference[0]);
        accumulate<c>(result, c == d ? sum[1] : difference[1]);
        return result;
    }
};

/// Sums c_d times the odd part of all pairs but those along the axes.
template <class S, class V>
struct DiagonalFlux {
    V sum[S::D];
    V edges[S::D][S::D];  // [a][b]: of the edges in the plane of a and b alone, along a; a != b
    V corners[S::D];      // of the corners alone
    V triple;             // sum c_x c_y c_z odd

    LBM_HD explicit DiagonalFlux(const PairSums<S, V>& sums) {
        using P = CubicPairs<S>;
        triple = V{};
        if constexpr (P::corners > 0) {
            constexpr int p = P::corner(0), q = P::corner(1), r = P::corner(2), s = P::corner(3);
            const SignedSums odd(sums.odd[p], sums.odd[q], sums.odd[r], sums.odd[s]);
            static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
                corners[d] = odd.template of<P::c(p, d), P::c(q, d), P::c(r, d), P::c(s, d)>();
                sum[d] = corners[d];
            });
            constexpr auto c = [](int k) { return P::c(k, 0) * P::c(k, 1) * P::c(k, 2); };
            triple = odd.template of<c(p), c(q), c(r), c(s)>();
        }
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            constexpr int a = P::axis(q, 0), b = P::axis(q, 1), first = P::edge(q, 0), second = P::edge(q, 1);
            edges[a][b] = sums.odd[first] + sums.odd[second];
            edges[b][a] = sums.odd[first] - sums.odd[second];
        });
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            constexpr int b = d == 0 ? 1 : 0;
            sum[d] = P::corners > 0 ? sum[d] + edges[d][b] : edges[d][b];
            if constexpr (S::D == 3) {
                sum[d] = sum[d] + edges[d][3 - d - b];
            }
        });
    }
};

template <class S, class V>
struct LowMoments {
    V zeroth;              // sum h
    V first[S::D];         // sum c_a h
    V second[S::D][S::D];  // sum c_a c_b h; a <= b
    V third[S::D][S::D];   // sum c_a c_b^2 h; a != b
    V triple;              // sum c_x c_y c_z h
};

template <class S, class V>
LBM_HD LowMoments<S, V> low_moments(const PairSums<S, V>& sums) {
    using P = CubicPairs<S>;
    LowMoments<S, V> m;
    const DiagonalFlux<S, V> flux(sums);
    V corner_sum = V{}, corner_shear[P::planes], edge_sum[P::planes];
    m.triple = flux.triple;
    if constexpr (P::corners > 0) {
        constexpr int p = P::corner(0), q = P::corner(1), r = P::corner(2), s = P::corner(3);
        const SignedSums even(sums.even[p], sums.even[q], sums.even[r], sums.even[s]);
        corner_sum = even.template of<1, 1, 1, 1>();
        static_for<P::planes>([&]<int plane>() LBM_INLINE_LAMBDA {
            constexpr auto c = [](int k) { return P::c(k, P::axis(plane, 0)) * P::c(k, P::axis(plane, 1)); };
            corner_shear[plane] = even.template of<c(p), c(q), c(r), c(s)>();
        });
    }
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        m.first[d] = sums.odd[d] + flux.sum[d];
        m.second[d][d] = sums.even[d];
        if constexpr (P::corners > 0) {
            m.second[d][d] = m.second[d][d] + corner_sum;
        }
    });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        constexpr int a = P::axis(q, 0), b = P::axis(q, 1), first = P::edge(q, 0), second = P::edge(q, 1);
        edge_sum[q] = sums.even[first] + sums.even[second];
        m.second[a][a] = m.second[a][a] + edge_sum[q];
        m.second[b][b] = m.second[b][b] + edge_sum[q];
        m.second[a][b] = sums.even[first] - sums.even[second];
        m.third[a][b] = flux.edges[a][b];
        m.third[b][a] = flux.edges[b][a];
        if constexpr (P::corners > 0) {
            m.second[a][b] = m.second[a][b] + corner_shear[q];
            m.third[a][b] = m.third[a][b] + flux.corners[a];
            m.third[b][a] = m.third[b][a] + flux.corners[b];
        }
    });
    m.zeroth = m.second[0][0] + sums.even[1];
    if constexpr (S::D == 3) {
        m.zeroth = m.zeroth + (sums.even[2] + edge_sum[P::plane(0)]);
    }
    return m;
}

}  // namespace lbm
