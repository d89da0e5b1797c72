// Orthogonal moment bases of the MRT collision, as polynomials of the velocity, with their preset relaxation rates.
//
// D2Q9: Lallemand & Luo, PRE 61 (2000) 6546, eq. 2. D3Q19: d'Humieres, Ginzburg, Krafczyk, Lallemand & Luo,
// Phil. Trans. R. Soc. A 360 (2002) 437, appendix A. D3Q27: Suga, Kuwata, Takashima & Chikasue,
// Comput. Math. Appl. 69 (2015) 518, after Gram-Schmidt orthogonalisation.
// The equilibrium is M f_eq of the second-order f_eq, which is the choice of free parameters of those papers that
// reduces to BGK at equal rates.
#pragma once

#include "stencils/d2q9.h"
#include "stencils/d3q19.h"
#include "stencils/d3q27.h"

namespace lbm {

constexpr double follows_viscosity = -1;

/// Moments that share a relaxation rate. Group 0 is conserved, group 1 is the stress, whose rate the viscosity sets;
/// the other groups have a preset rate.
struct RateGroup {
    const char* name;
    double preset;  // or follows_viscosity
};

template <class S>
struct MomentBasis;

template <>
struct MomentBasis<D2Q9> {
    static constexpr int groups = 5;
    static constexpr RateGroup group[groups] = {{"conserved", 0}, {"nu", 0}, {"e", 1.63}, {"eps", 1.14}, {"q", 1.92}};
    static constexpr const char* name[9] = {"rho", "e", "eps", "jx", "qx", "jy", "qy", "pxx", "pxy"};
    static constexpr int group_of[9] = {0, 2, 3, 0, 4, 0, 4, 1, 1};
    static constexpr int energy = 1;  // row of the energy moment

    static constexpr int value(int row, int x, int y, int) {
        const int s = x * x + y * y;
        switch (row) {
            case 0: return 1;
            case 1: return 3 * s - 4;
            case 2: return (9 * s * s - 21 * s + 8) / 2;
            case 3: return x;
            case 4: return x * (3 * s - 5);
            case 5: return y;
            case 6: return y * (3 * s - 5);
            case 7: return x * x - y * y;
            default: return x * y;
        }
    }
};

template <>
struct MomentBasis<D3Q19> {
    static constexpr int groups = 7;
    static constexpr RateGroup group[groups] = {{"conserved", 0}, {"nu", 0},   {"e", 1.19}, {"eps", 1.4},
                                                {"q", 1.2},       {"pi", 1.4}, {"m", 1.98}};
    static constexpr const char* name[19] = {"rho",   "e",   "eps",  "jx",  "qx",  "jy",  "qy", "jz", "qz", "3pxx",
                                             "3pixx", "pww", "piww", "pxy", "pyz", "pxz", "mx", "my", "mz"};
    static constexpr int group_of[19] = {0, 2, 3, 0, 4, 0, 4, 0, 4, 1, 5, 1, 5, 1, 1, 1, 6, 6, 6};
    static constexpr int energy = 1;

    static constexpr int value(int row, int x, int y, int z) {
        const int s = x * x + y * y + z * z;
        switch (row) {
            case 0: return 1;
            case 1: return 19 * s - 30;
            case 2: return (21 * s * s - 53 * s + 24) / 2;
            case 3: return x;
            case 4: return x * (5 * s - 9);
            case 5: return y;
            case 6: return y * (5 * s - 9);
            case 7: return z;
            case 8: return z * (5 * s - 9);
            case 9: return 3 * x * x - s;
            case 10: return (3 * x * x - s) * (3 * s - 5);
            case 11: return y * y - z * z;
            case 12: return (y * y - z * z) * (3 * s - 5);
            case 13: return x * y;
            case 14: return y * z;
            case 15: return x * z;
            case 16: return x * (y * y - z * z);
            case 17: return y * (z * z - x * x);
            default: return z * (x * x - y * y);
        }
    }
};

template <>
struct MomentBasis<D3Q27> {
    static constexpr int groups = 9;
    // Suga et al. give 1.98 for xxe, at viscosities where that is about the rate of the stress. At viscosities from
    // 0.015 on, short waves then grow in a fluid at rest; the rate of the stress is stable at every viscosity, as a
    // linear analysis shows.
    static constexpr RateGroup group[groups] = {
        {"conserved", 0},           {"nu", 0},    {"e", 1.54}, {"phi", 1.5}, {"psi", 1.83}, {"eps", 1.4}, {"e3", 1.61},
        {"xxe", follows_viscosity}, {"tau", 1.74}};
    static constexpr const char* name[27] = {"rho", "jx",   "jy",   "jz",   "e",    "xx",   "ww",   "xy",   "yz",
                                             "zx",  "phix", "phiy", "phiz", "psix", "psiy", "psiz", "eps",  "e3",
                                             "xxe", "wwe",  "xye",  "yze",  "zxe",  "taux", "tauy", "tauz", "xyz"};
    static constexpr int group_of[27] = {0, 0, 0, 0, 2, 1, 1, 1, 1, 1, 3, 3, 3, 4,
                                         4, 4, 5, 6, 7, 7, 7, 7, 7, 8, 8, 8, 8};
    static constexpr int energy = 4;

    static constexpr int value(int row, int x, int y, int z) {
        const int s = x * x + y * y + z * z;
        const int phi = 3 * s - 7;                      // third order when multiplied by a velocity component
        const int psi = (9 * s * s - 39 * s + 38) / 2;  // fifth order when multiplied by a velocity component
        switch (row) {
            case 0: return 1;
            case 1: return x;
            case 2: return y;
            case 3: return z;
            case 4: return s - 2;
            case 5: return 3 * x * x - s;
            case 6: return y * y - z * z;
            case 7: return x * y;
            case 8: return y * z;
            case 9: return x * z;
            case 10: return x * phi;
            case 11: return y * phi;
            case 12: return z * phi;
            case 13: return x * psi;
            case 14: return y * psi;
            case 15: return z * psi;
            case 16: return (3 * s * s - 11 * s + 8) / 2;
            case 17: return (9 * s * s * s - 45 * s * s + 60 * s - 16) / 2;
            case 18: return (3 * x * x - s) * (3 * s - 5);
            case 19: return (y * y - z * z) * (3 * s - 5);
            case 20: return x * y * (3 * s - 8);
            case 21: return y * z * (3 * s - 8);
            case 22: return x * z * (3 * s - 8);
            case 23: return x * (y * y - z * z);
            case 24: return y * (z * z - x * x);
            case 25: return z * (x * x - y * y);
            default: return x * y * z;
        }
    }
};

/// Properties of the moments that follow from the basis.
template <class S>
struct Moment {
    using Basis = MomentBasis<S>;

    /// Row k of the matrix M at velocity i.
    static constexpr int value(int k, int i) { return Basis::value(k, S::c[i][0], S::c[i][1], S::c[i][2]); }

    static constexpr int norm2(int k) {
        int sum = 0;
        for (int i = 0; i < S::Q; ++i) {
            sum += value(k, i) * value(k, i);
        }
        return sum;
    }

    static constexpr bool conserved(int k) { return Basis::group_of[k] == 0; }
    static constexpr bool sets_viscosity(int k) { return Basis::group_of[k] == 1; }

    /// Whether row k takes the same value at opposite velocities.
    static constexpr bool even(int k) {
        for (int i = 1; i < S::Q; ++i) {
            if (value(k, i) != value(k, Stencil<S>::opposite(i))) {
                return false;
            }
        }
        return true;
    }
};

/// By how much f_i grows when the energy moment grows by one.
template <class S>
constexpr double share_of_energy(int i) {
    constexpr int row = MomentBasis<S>::energy;
    return double(Moment<S>::value(row, i)) / Moment<S>::norm2(row);
}

namespace detail {

template <class S>
constexpr bool basis_is_sound() {
    using M = Moment<S>;
    const auto energy = [](int i) { return M::value(MomentBasis<S>::energy, i); };
    for (int i = 1; i < S::Q; ++i) {  // linear in the squared speed
        if (energy(i) - energy(0) != Stencil<S>::squared_speed(i) * (energy(1) - energy(0)) || energy(1) == energy(0)) {
            return false;
        }
    }
    for (int k = 0; k < S::Q; ++k) {
        for (int l = 0; l < k; ++l) {
            int product = 0;
            for (int i = 0; i < S::Q; ++i) {
                product += M::value(k, i) * M::value(l, i);
            }
            if (product != 0) {
                return false;
            }
        }
        for (int i = 1; i < S::Q; ++i) {
            const int there = M::value(k, i), back = M::value(k, Stencil<S>::opposite(i));
            if (there != (M::even(k) ? back : -back)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace detail

static_assert(detail::basis_is_sound<D2Q9>());
static_assert(detail::basis_is_sound<D3Q19>());
static_assert(detail::basis_is_sound<D3Q27>());

}  // namespace lbm
