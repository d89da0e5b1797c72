// The shapes of what a thread block or a warp sweeps of a block whose state is moments: its threads, and what they have
// in shared memory.
#pragma once

#include "../../../lattice/from_side.h"
#include "../../../lattice/moment_collision.h"

namespace lbm::cuda {

/// The numbers that a thread with V cells asks for at walls (MomentWallsOfThread).
template <int V>
constexpr int asked_at_walls = V + 1;
/// What of the numbers that it keeps from one layer to the next (KeptNumbers) lies in shared memory, as registers have
/// no room for it: at walls populations, and so many of the sums of what comes in to its cells in all steps, first
/// those of two layers, each of all cells and steps, and then those of the layer below.
struct InShared {
    bool populations;
    int sums;

    constexpr bool operator==(const InShared&) const = default;
};
/// How many populations of each cell: with `cuts` they are of two kinds.
template <class S>
constexpr int populations_at_walls(bool cuts) {
    return FromAbove<S>::count * (cuts ? 2 : 1);
}
/// How many sums a cell has in each of the steps.
template <class S>
constexpr int all_sums = TwoLayers<S, float>::numbers + LayerSums<S, float>::numbers -
                         (S::D == 3 && !LayerVelocities<S, 1>::has_corners ? 1 : 0);
template <class S, int V, int steps>
constexpr int numbers_in_shared(bool cuts, InShared kept) {
    return (kept.populations ? steps * V * populations_at_walls<S>(cuts) : 0) + kept.sums;
}
/// The shared memory of a thread for these, and at walls for what it asks for.
template <class S, class Real, int V, int steps>
constexpr unsigned bytes_in_shared(bool walls, bool cuts, InShared kept) {
    return (walls ? unsigned(asked_at_walls<V>) * unsigned(sizeof(int)) : 0) +
           unsigned(numbers_in_shared<S, V, steps>(cuts, kept)) * unsigned(sizeof(Real));
}

/// A tile of `rows` rows whose cells are stored after so many steps; there are `steps` more rows on each side. A warp
/// has a row of 32 V cells, V neighbours in each thread; the last warps have the cells beside the ends of all rows, or
/// with `ends_inside` the outermost lanes of each.
template <class S, class Real, int V, int steps, int rows, bool ends_inside = false>
struct MomentShape {
    static_assert(S::D == 3);
    using Narrow = MomentShape<S, Real, 1, steps, rows>;         // for walls
    using AtXFace = MomentShape<S, Real, 1, steps, rows, true>;  // with warps along y
    static constexpr int cells = V;
    static constexpr int extra_lanes = (steps + V - 1) / V;                    // at each end of a row
    static constexpr int row_lanes = ends_inside ? 32 - 2 * extra_lanes : 32;  // whose cells are stored
    static constexpr int width = row_lanes + 2 * extra_lanes;                  // slots of a row, one for each thread
    static constexpr int all_rows = rows + 2 * steps;
    static constexpr int warps = all_rows + (ends_inside ? 0 : (2 * extra_lanes * all_rows + 31) / 32);
    static constexpr int threads = 32 * warps;
    /// How many thread blocks a multiprocessor has at once: with one cell a thread two of 256 threads with 128
    /// registers each in float32.
    static constexpr int blocks = threads <= 256 && sizeof(Real) == sizeof(float) && V == 1 ? 2 : 1;

    /// The slots of step s: of the rows that it takes populations from, those with `s` rows or more to each side.
    static constexpr int slots(int s) { return ((all_rows - 2 * s) * width + 3) / 4 * 4; }
    /// Arrays of a number for each slot that a population needs in shared memory: one for each cell of a thread; those
    /// along x need only that of the cell at the end.
    static constexpr int arrays_of(int i) { return S::c[i][1] != 0 ? V : S::c[i][0] != 0 ? 1 : 0; }
    static constexpr int arrays_before(int i) {
        int sum = 0;
        for (int k = 0; k < i; ++k) {
            sum += arrays_of(k);
        }
        return sum;
    }
    /// Numbers before, between and behind those of the steps, which nobody writes. Along x the first slot and the last
    /// one gather from beside their array, of the first and the last array of a step from these: their cells have no
    /// use for it.
    static constexpr int between_steps = 4;
    /// Where the arrays of population i of step s begin.
    static constexpr int first_number(int s, int i) {
        int sum = between_steps + arrays_before(i) * slots(s);
        for (int k = 0; k < s; ++k) {
            sum += arrays_before(S::Q) * slots(k) + between_steps;
        }
        return sum;
    }
    static constexpr int numbers = first_number(steps, 0);
    static constexpr unsigned bytes(bool walls, bool cuts, InShared kept) {
        return unsigned(numbers) * unsigned(sizeof(Real)) +
               unsigned(threads) * bytes_in_shared<S, Real, V, steps>(walls, cuts, kept);
    }
};

/// A strip of cells in two dimensions, which a warp sweeps, V neighbours in each thread. The outermost lanes have the
/// cells beside it: at least those that so many steps need.
template <class S, class Real, int V, int steps, int extra_lanes_>
struct StripShape {
    static_assert(S::D == 2 && extra_lanes_ * V >= steps);
    using Narrow = StripShape;
    using AtXFace = StripShape;
    static constexpr int cells = V;
    static constexpr int extra_lanes = extra_lanes_;
    static constexpr int own_lanes = 32 - 2 * extra_lanes;
    static constexpr int warps = 4, threads = 32 * warps;  // warps do not know of each other
    static constexpr unsigned bytes(bool walls, bool cuts, InShared kept) {
        return unsigned(threads) * bytes_in_shared<S, Real, V, steps>(walls, cuts, kept);
    }
    /// How many thread blocks a multiprocessor has at once: those whose numbers registers have room for, or fewer where
    /// each takes so much of the 227 KiB of shared memory.
    static constexpr int blocks(unsigned bytes) {
        constexpr int by_registers = steps <= 2 ? 5 : steps <= 4 ? 4 : 3;
        const unsigned by_shared = bytes == 0 ? 32 : (227 << 10) / bytes;
        return int(by_shared) < by_registers ? (by_shared == 0 ? 1 : int(by_shared)) : by_registers;
    }
};

}  // namespace lbm::cuda
