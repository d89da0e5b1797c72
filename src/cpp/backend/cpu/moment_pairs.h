// Loads and stores the moments of packs of cells, whose numbers lie side by side by pairs (moment_place).
#pragma once

#include "../../lattice/address.h"
#include "../../lattice/moment_state.h"
#include "pack.h"

namespace lbm::cpu {

/// Two numbers of W cells.
template <class Real, int W>
struct MomentPair {
    using V = Pack<Real, W>;
    V number[2];

    LBM_HD static MomentPair load(const Real* p) { return load(p, typename lbm::detail::MakeSequence<W>::type{}); }
    LBM_HD void store(Real* p) const { store(p, typename lbm::detail::MakeSequence<W>::type{}); }

private:
    // Registers of 32 bytes are shuffled within their halves, and then quarters across them: two instructions, where
    // compilers take three and the numbers of lanes from memory.
    static constexpr bool halved = W * int(sizeof(Real)) == 32;
    static constexpr int quarter = W / 4;
    static constexpr int in_halves(int lane) {
        const int of_half = lane % (2 * quarter);
        return lane - of_half + (of_half < quarter ? 0 : W) + 2 * (of_half % quarter);
    }
    static constexpr int across_halves(int lane) {
        const int k = lane / quarter;
        return (k == 1 ? 2 : k == 2 ? 1 : k) * quarter + lane % quarter;
    }

    template <int... lane>
    LBM_HD static MomentPair load(const Real* p, IntSequence<lane...>) {
        const V low = load_pack<Real, W>(p), high = load_pack<Real, W>(p + W);
        if constexpr (halved) {
            const V first{__builtin_shufflevector(low.v, high.v, (in_halves(lane))...)};
            const V second{__builtin_shufflevector(low.v, high.v, (in_halves(lane) + 1)...)};
            return {V{__builtin_shufflevector(first.v, first.v, (across_halves(lane))...)},
                    V{__builtin_shufflevector(second.v, second.v, (across_halves(lane))...)}};
        } else {
            return {V{__builtin_shufflevector(low.v, high.v, (2 * lane)...)},
                    V{__builtin_shufflevector(low.v, high.v, (2 * lane + 1)...)}};
        }
    }
    template <int... lane>
    LBM_HD void store(Real* p, IntSequence<lane...>) const {
        const auto& [first, second] = number;
        const V low{__builtin_shufflevector(first.v, second.v, (lane / 2 + lane % 2 * W)...)};
        const V high{__builtin_shufflevector(first.v, second.v, ((W + lane) / 2 + lane % 2 * W)...)};
        store_pack(p, low);
        store_pack(p + W, high);
    }
};

/// The moments of a pack of cells, which begin with cell x of a row.
template <class S, class Real, int W>
LBM_HD StoredMoments<S, Pack<Real, W>> load_moments(const Real* row, Index x, Index stride) {
    static_assert(moment_count<S> % 2 == 0);
    MomentPair<Real, W> pairs[moment_count<S> / 2];
    static_for<moment_count<S> / 2>(
        [&]<int g>() LBM_INLINE_LAMBDA { pairs[g] = MomentPair<Real, W>::load(row + moment_place(2 * g, x, stride)); });
    StoredMoments<S, Pack<Real, W>> m;
    m.for_each([&]<int k>(auto& number) LBM_INLINE_LAMBDA { number = pairs[k / 2].number[k % 2]; });
    return m;
}

/// Stores the moments of the first `cells` cells of a pack, which begin with cell x of a row.
template <class S, class Real, int W>
LBM_HD void store_moments(StoredMoments<S, Pack<Real, W>>& m, Real* row, Index x, Index stride, int cells) {
    if (cells >= W) {
        MomentPair<Real, W> pairs[moment_count<S> / 2];
        m.for_each([&]<int k>(const auto& number) LBM_INLINE_LAMBDA { pairs[k / 2].number[k % 2] = number; });
        static_for<moment_count<S> / 2>(
            [&]<int g>() LBM_INLINE_LAMBDA { pairs[g].store(row + moment_place(2 * g, x, stride)); });
    } else {
        m.for_each([&]<int k>(const auto& number) LBM_INLINE_LAMBDA {
            Real each[W];
            store_pack(each, number);
            for (int lane = 0; lane < cells; ++lane) {
                row[moment_place(k, x + lane, stride)] = each[lane];
            }
        });
    }
}

/// Asks for the memory of the moments of a pack of cells, to be read or written.
template <class S, class Real, int W, bool writes>
LBM_HD void prefetch_moments(const Real* row, Index x, Index stride) {
    constexpr int line = 64 / int(sizeof(Real));
    if (2 * W < line && x % (line / 2) != 0) {
        return;  // in a line that has been asked for
    }
    static_for<moment_count<S> / 2>([&]<int g>() LBM_INLINE_LAMBDA {
        const Real* const pair = row + moment_place(2 * g, x, stride);
        static_for<(2 * W + line - 1) / line>(
            [&]<int k>() LBM_INLINE_LAMBDA { __builtin_prefetch(pair + k * line, writes ? 1 : 0, 2); });
    });
}

}  // namespace lbm::cpu
