// The shapes of what a thread block or a warp sweeps of a block whose state is moments: its threads, and what they have
// in shared memory.
#pragma once

#include "../../../lattice/from_side.h"
#include "../../../lattice/moment_collision.h"

namespace lbm::cuda {

/// The numbers that a thread with V cells asks for at walls (MomentWallsOfThread).
template <int V>
constexpr int asked_at_walls = V + 1;
/// What of the numbers that it keeps there from one layer to the next (KeptAtWalls) lies in shared memory, where there
/// is room for it: populations, or sums of what comes in to its cells too.
enum class InShared { Nothing, Populations, SumsToo };
/// How many of each cell: with `cuts` there are populations of two kinds. Of the sums they are those of two layers, and
/// in two dimensions, where it has cells of up to six steps, those of the layer below too.
template <class S>
constexpr int populations_at_walls(bool cuts) {
    return FromAbove<S>::count * (cuts ? 2 : 1);
}
template <class S>
constexpr int sums_at_walls = TwoLayers<S, float>::numbers + (S::D == 2 ? LayerSums<S, float>::numbers : 0);
template <class S, int V, int steps>
constexpr int numbers_at_walls(bool cuts, InShared kept) {
    return steps * V *
           ((kept >= InShared::Populations ? populations_at_walls<S>(cuts) : 0) +
            (kept == InShared::SumsToo ? sums_at_walls<S> : 0));
}
/// The shared memory of a thread for these and what it asks for.
template <class S, class Real, int V, int steps>
constexpr unsigned bytes_at_walls(bool cuts, InShared kept) {
    return unsigned(asked_at_walls<V>) * unsigned(sizeof(int)) +
           unsigned(numbers_at_walls<S, V, steps>(cuts, kept)) * unsigned(sizeof(Real));
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
    /// How many thread blocks a multiprocessor has at once: two of 256 threads with 128 registers each in float32.
    static constexpr int blocks = threads <= 256 && sizeof(Real) == sizeof(float) && ends_inside ? 2 : 1;
    static constexpr int guard = (width + 4) / 4 * 4;  // slots before and behind, which the outermost ones gather from
    static constexpr int slots = (all_rows * width + 2 * guard + 3) / 4 * 4;

    /// Arrays of a number for each slot that a population needs in shared memory: one for each cell of a thread; those
    /// along x need only that of the cell at the end.
    static constexpr int arrays_of(int i) { return S::c[i][1] != 0 ? V : S::c[i][0] != 0 ? 1 : 0; }
    static constexpr int first_array(int i) {
        int sum = 0;
        for (int k = 0; k < i; ++k) {
            sum += arrays_of(k);
        }
        return sum;
    }
    static constexpr int numbers = first_array(S::Q) * slots;  // of one step

    static constexpr unsigned bytes = unsigned(steps * numbers) * unsigned(sizeof(Real));
    static constexpr unsigned at_walls(bool cuts, InShared kept) {
        return unsigned(threads) * bytes_at_walls<S, Real, V, steps>(cuts, kept);
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
    static constexpr int warps = 4, threads = 32 * warps;               // warps do not know of each other
    static constexpr int blocks = steps <= 2 ? 5 : steps <= 4 ? 4 : 3;  // on a multiprocessor: registers for them
    static constexpr unsigned bytes = 0;
    static constexpr unsigned at_walls(bool cuts, InShared kept) {
        return unsigned(threads) * bytes_at_walls<S, Real, V, steps>(cuts, kept);
    }
};

}  // namespace lbm::cuda
