// The MRT relaxation in symmetry-adapted form: the non-equilibrium part is split into amplitudes that transform alike
// under the symmetries of the square or the cube.
//
// A relaxation that prefers no axis and no direction commutes with these symmetries, so it couples only amplitudes that
// transform alike (Schur's lemma):
//   even: the sums over the shells; the deviators, of an axis and the plane normal to it; the shears of a plane;
//   odd:  the fluxes along an axis, of each plane and of the corners; the product of all three components.
// A stencil without edges or corners lacks their amplitudes. Relaxation in any moment basis with one rate for all
// equivalent moments is of this kind, and takes a third of the operations in this form.
#pragma once

#include "pairs.h"

namespace lbm {

/// The coefficients that multiply the amplitudes. The first index is the shell of the pairs that change, the second the
/// shell of the amplitude. Shell 0 has the pairs along the axes, 1 those to the edges, 2 those to the corners of a
/// cube.
template <class C>
struct CubicRates {
    C sum[3][3];       // from the sum over a shell to each pair of a shell
    C deviator[2][2];  // between an axis (0) and the two pairs of the plane normal to it (1); 0 in two dimensions
    C shear[2][2];     // between the shears of a plane in its edges (0) and in the corners (1)
    C flux[2][2];      // between the fluxes along an axis in the edges of one plane (0) and in the corners (1)
    C flux_across;     // to the edges of a plane from the flux along an axis in the other plane that contains it
    C triple;          // for the product of the three components in the corners
};

/// Sets out = f(a, b) for every rate.
template <class To, class From, class Combine>
LBM_HD constexpr void combine(CubicRates<To>& out, const CubicRates<From>& a, const CubicRates<From>& b, Combine&& f) {
    static_for<3>([&]<int t>() LBM_INLINE_LAMBDA {
        static_for<3>([&]<int s>() LBM_INLINE_LAMBDA { out.sum[t][s] = f(a.sum[t][s], b.sum[t][s]); });
    });
    static_for<2>([&]<int t>() LBM_INLINE_LAMBDA {
        static_for<2>([&]<int s>() LBM_INLINE_LAMBDA {
            out.deviator[t][s] = f(a.deviator[t][s], b.deviator[t][s]);
            out.shear[t][s] = f(a.shear[t][s], b.shear[t][s]);
            out.flux[t][s] = f(a.flux[t][s], b.flux[t][s]);
        });
    });
    out.flux_across = f(a.flux_across, b.flux_across);
    out.triple = f(a.triple, b.triple);
}

/// The pairs of a stencil by geometry: axes, edges in each plane, corners.
template <class S>
struct CubicPairs {
    static constexpr int planes = S::D == 3 ? 3 : 1;
    // Edges are the pairs D .. D + edges - 1; plane q has the pairs D + 2q and D + 2q + 1.
    static constexpr int edges = S::shell_weight[2] > 0 ? 2 * planes : 0;
    static constexpr int corners = Stencil<S>::pairs - S::D - edges;

    LBM_HD static constexpr int edge(int plane, int k) { return S::D + 2 * plane + k; }
    LBM_HD static constexpr int corner(int k) { return S::D + edges + k; }
    LBM_HD static constexpr int c(int p, int d) { return S::c[2 * p + 1][d]; }
    /// The two axes of a plane, k = 0 or 1; the axis normal to a plane; and the plane normal to an axis.
    LBM_HD static constexpr int axis(int plane, int k) { return k == 0 ? plane / 2 : (plane + 3) / 2; }
    LBM_HD static constexpr int normal(int plane) { return 2 - plane; }
    LBM_HD static constexpr int plane(int normal) { return 2 - normal; }
    /// The other plane that contains an axis.
    LBM_HD static constexpr int other_plane(int plane, int axis) { return 1 + axis - plane; }
};

namespace detail {

/// Checks the order of the pairs: the first edge of a plane has equal components along its axes, the second opposite
/// ones; and there are all corners or none.
template <class S>
constexpr bool cubic_pairs_are_sound() {
    using P = CubicPairs<S>;
    bool sound = P::corners == 0 || P::corners == 4;
    for (int q = 0; q < P::edges / 2; ++q) {
        for (int d = 0; d < S::D; ++d) {
            const bool first = d == P::axis(q, 0), second = d == P::axis(q, 1);
            sound = sound && P::c(P::edge(q, 0), d) == (first || second ? 1 : 0);
            sound = sound && P::c(P::edge(q, 1), d) == (first ? 1 : second ? -1 : 0);
        }
    }
    return sound;
}

}  // namespace detail

/// The change -K n of a non-equilibrium part n that carries no mass and no momentum. The changes of the rest population
/// and of the odd parts of the axis pairs are left to `enforce_conservation`.
template <class S, class V, class C>
LBM_HD PairChange<S, V> relax_parts(const PairSums<S, V>& n, const CubicRates<C>& rates) {
    using P = CubicPairs<S>;
    static_assert(detail::cubic_pairs_are_sound<S>());
    constexpr bool solid = S::D == 3, edged = P::edges > 0, cornered = P::corners > 0;
    PairChange<S, V> change{};

    V plane_sum[P::planes], shear[P::planes], corner_shear[P::planes];  // even
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        if constexpr (edged) {
            plane_sum[q] = n.even[P::edge(q, 0)] + n.even[P::edge(q, 1)];
            shear[q] = n.even[P::edge(q, 0)] - n.even[P::edge(q, 1)];
        }
        corner_shear[q] = V{};
        static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
            constexpr int p = P::corner(k);
            accumulate<P::c(p, P::axis(q, 0)) * P::c(p, P::axis(q, 1))>(corner_shear[q], n.even[p]);
        });
    });
    V shell_sum[3] = {total<0, S::D>(n.even), V{}, V{}};
    if constexpr (edged) {
        shell_sum[1] = total<0, P::planes>(plane_sum);
    }
    if constexpr (cornered) {
        shell_sum[2] = total<P::corner(0), P::corners>(n.even);
    }
    V common[3];
    static_for<3>([&]<int shell>() LBM_INLINE_LAMBDA {
        common[shell] = rates.sum[shell][0] * shell_sum[0];
        if constexpr (edged) {
            common[shell] = common[shell] + rates.sum[shell][1] * shell_sum[1];
        }
        if constexpr (cornered) {
            common[shell] = common[shell] + rates.sum[shell][2] * shell_sum[2];
        }
    });
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        change.even[d] = common[0] + rates.deviator[0][0] * n.even[d];
        if constexpr (solid && edged) {
            change.even[d] = change.even[d] + rates.deviator[0][1] * plane_sum[P::plane(d)];
        }
    });
    static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
        if constexpr (edged) {
            V mean = common[1], difference = rates.shear[0][0] * shear[q];
            if constexpr (solid) {
                mean = mean + (rates.deviator[1][0] * n.even[P::normal(q)] + rates.deviator[1][1] * plane_sum[q]);
            }
            if constexpr (cornered) {
                difference = difference + rates.shear[0][1] * corner_shear[q];
                corner_shear[q] = rates.shear[1][0] * shear[q] + rates.shear[1][1] * corner_shear[q];
            }
            change.even[P::edge(q, 0)] = mean + difference;
            change.even[P::edge(q, 1)] = mean - difference;
        } else if constexpr (cornered) {
            corner_shear[q] = rates.shear[1][1] * corner_shear[q];
        }
    });

    V plane_flux[P::planes][2], axis_flux[S::D], corner_flux[S::D];  // odd; [plane][its first or second axis]
    if constexpr (edged) {
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            plane_flux[q][0] = n.odd[P::edge(q, 0)] + n.odd[P::edge(q, 1)];
            plane_flux[q][1] = n.odd[P::edge(q, 0)] - n.odd[P::edge(q, 1)];
        });
    }
    V triple = V{};
    static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
        corner_flux[d] = axis_flux[d] = V{};
        static_for<P::corners>(
            [&]<int k>() LBM_INLINE_LAMBDA { accumulate<P::c(P::corner(k), d)>(corner_flux[d], n.odd[P::corner(k)]); });
    });
    static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
        constexpr int p = P::corner(k);
        accumulate<P::c(p, 0) * P::c(p, 1) * P::c(p, 2)>(triple, n.odd[p]);
    });
    if constexpr (edged) {
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            V flux[2];
            static_for<2>([&]<int k>() LBM_INLINE_LAMBDA {
                constexpr int d = P::axis(q, k);
                flux[k] = rates.flux[0][0] * plane_flux[q][k];
                if constexpr (solid) {
                    constexpr int other = P::other_plane(q, d);
                    flux[k] = flux[k] + rates.flux_across * plane_flux[other][P::axis(other, 0) == d ? 0 : 1];
                }
                if constexpr (cornered) {
                    flux[k] = flux[k] + rates.flux[0][1] * corner_flux[d];
                    axis_flux[d] = axis_flux[d] + plane_flux[q][k];
                }
            });
            change.odd[P::edge(q, 0)] = flux[0] + flux[1];
            change.odd[P::edge(q, 1)] = flux[0] - flux[1];
        });
    }
    if constexpr (cornered) {
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
            if constexpr (edged) {
                corner_flux[d] = rates.flux[1][0] * axis_flux[d] + rates.flux[1][1] * corner_flux[d];
            } else {
                corner_flux[d] = rates.flux[1][1] * corner_flux[d];
            }
        });
        triple = rates.triple * triple;
    }
    static_for<P::corners>([&]<int k>() LBM_INLINE_LAMBDA {
        constexpr int p = P::corner(k);
        change.even[p] = common[2];
        change.odd[p] = scaled<P::c(p, 0) * P::c(p, 1) * P::c(p, 2)>(triple);
        static_for<P::planes>([&]<int q>() LBM_INLINE_LAMBDA {
            accumulate<P::c(p, P::axis(q, 0)) * P::c(p, P::axis(q, 1))>(change.even[p], corner_shear[q]);
        });
        static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA { accumulate<P::c(p, d)>(change.odd[p], corner_flux[d]); });
    });
    return change;
}

}  // namespace lbm
