// Properties that follow from a stencil (a velocity set, given as data in stencils/), and checks of its weights and
// moments.
//
// The rest velocity comes first, followed by pairs of opposite velocities, those along the axes first: velocities 2p +
// 1 and 2p + 2 form pair p, and pair d < D is (+e_d, -e_d).
#pragma once

#include "portability.h"

namespace lbm {

/// Properties of a stencil, computed from its data.
template <class S>
struct Stencil {
    static constexpr int D = S::D, Q = S::Q;
    static constexpr int pairs = (Q - 1) / 2;
    static constexpr double cs2 = S::cs2;
    /// Whether populations stream over several cells and carry the energy, as in multispeed.h.
    static constexpr bool multispeed = S::radius > 1;

    /// Component d of the 21 velocities from 21 * part on, packed as component + 3 in three bits each.
    static constexpr UInt64 packed(int part, int d) {
        UInt64 bits = 0;
        for (int k = 0; k < 21 && 21 * part + k < Q; ++k) {
            bits |= UInt64(S::c[21 * part + k][d] + 3) << (3 * k);
        }
        return bits;
    }

    /// Component d of velocity i, for an i that is known at run time only. GPU code cannot index the host's tables, so
    /// there the components are unpacked from two constants of three bits each.
    LBM_HD static constexpr int component(int i, int d) {
#if defined(__CUDA_ARCH__)
        const int half = i < 21 ? 0 : 1;
        const UInt64 bits = d == 0   ? (half == 0 ? packed(0, 0) : packed(1, 0))
                            : d == 1 ? (half == 0 ? packed(0, 1) : packed(1, 1))
                                     : (half == 0 ? packed(0, 2) : packed(1, 2));
        return int((bits >> (3 * (i - 21 * half))) & 7U) - 3;
#else
        return S::c[i][d];
#endif
    }

    LBM_HD static constexpr int squared_speed(int i) {
        return component(i, 0) * component(i, 0) + component(i, 1) * component(i, 1) +
               component(i, 2) * component(i, 2);
    }
    /// Weight of velocity i; it indexes the weights by constants only, for the same reason.
    LBM_HD static constexpr double w(int i) {
        const int shell = squared_speed(i);
        if constexpr (multispeed) {
            // No velocity has the squared speed 3, 6 or 7.
            return shell == 0   ? S::shell_weight[0]
                   : shell == 1 ? S::shell_weight[1]
                   : shell == 2 ? S::shell_weight[2]
                   : shell == 4 ? S::shell_weight[4]
                   : shell == 5 ? S::shell_weight[5]
                   : shell == 8 ? S::shell_weight[8]
                   : shell == 9 ? S::shell_weight[9]
                                : S::shell_weight[10];
        } else {
            return shell == 0   ? S::shell_weight[0]
                   : shell == 1 ? S::shell_weight[1]
                   : shell == 2 ? S::shell_weight[2]
                                : S::shell_weight[3];
        }
    }
    static constexpr int opposite(int i) { return i == 0 ? 0 : ((i - 1) ^ 1) + 1; }

    /// The velocity whose components across the faces of `axis` are reversed (specular reflection).
    static constexpr int mirror(int i, int axis) {
        for (int j = 0; j < Q; ++j) {
            bool same = true;
            for (int d = 0; d < 3; ++d) {
                same = same && S::c[j][d] == (d == axis ? -S::c[i][d] : S::c[i][d]);
            }
            if (same) {
                return j;
            }
        }
        return -1;
    }

    /// How many velocities cross a face of the x axis in one direction; and the rank of velocity i among those that
    /// cross it in the direction of i.
    static constexpr int through_x_face = [] {
        int count = 0;
        for (int i = 0; i < Q; ++i) {
            count += S::c[i][0] > 0;
        }
        return count;
    }();
    static constexpr int rank_through_x_face(int i) {
        int rank = 0;
        for (int j = 0; j < i; ++j) {
            rank += component(j, 0) == component(i, 0);
        }
        return rank;
    }
};

namespace detail {

/// Checks that the moments of the weights up to fourth order are those of a Maxwellian, and that velocities are ordered
/// as stated above.
template <class S>
constexpr bool stencil_is_sound() {
    using T = Stencil<S>;
    auto close = [](double a, double b) { return a - b < 1e-14 && b - a < 1e-14; };
    double mass = 0, second[3][3] = {}, fourth[3][3] = {};
    for (int i = 0; i < S::Q; ++i) {
        mass += T::w(i);
        for (int d = 0; d < 3; ++d) {
            if (S::c[T::opposite(i)][d] != -S::c[i][d] || S::c[i][d] > S::radius || -S::c[i][d] > S::radius) {
                return false;
            }
            for (int e = 0; e < 3; ++e) {
                second[d][e] += T::w(i) * S::c[i][d] * S::c[i][e];
                fourth[d][e] += T::w(i) * S::c[i][d] * S::c[i][d] * S::c[i][e] * S::c[i][e];
            }
        }
    }
    bool sound = close(mass, 1);
    for (int d = 0; d < S::D; ++d) {
        sound = sound && S::c[2 * d + 1][d] == 1 && T::squared_speed(2 * d + 1) == 1;
        for (int e = 0; e < S::D; ++e) {
            sound = sound && close(second[d][e], d == e ? T::cs2 : 0);
            sound = sound && close(fourth[d][e], (d == e ? 3 : 1) * T::cs2 * T::cs2);
        }
    }
    return sound;
}

/// Checks in two dimensions that the moments of the weights of sixth and eighth order are those of a Maxwellian too.
template <class S>
constexpr bool carries_energy() {
    bool sound = true;
    constexpr double maxwell[5] = {1, 1, 3, 15, 105};  // moments of c^(2k) in units of cs2^k
    for (int order = 3; order <= 4; ++order) {
        for (int m = 0; m <= order; ++m) {
            double sum = 0, expected = maxwell[m] * maxwell[order - m];
            for (int i = 0; i < S::Q; ++i) {
                double term = Stencil<S>::w(i);
                for (int k = 0; k < order; ++k) {
                    const int c = S::c[i][k < m ? 0 : 1];
                    term *= c * c / Stencil<S>::cs2;
                }
                sum += term;
            }
            sound = sound && sum - expected < 1e-11 && expected - sum < 1e-11;
        }
    }
    return sound;
}

}  // namespace detail

}  // namespace lbm
