// How an update of a block whose state is moments is divided among thread blocks: the shape of tiles, and which of
// them have walls in which layers.
#pragma once

#include "device_moment_walls.h"
#include "kernel_names.h"
#include "kernels/moment_shape.h"

namespace lbm::cuda {

/// The shape in which a block is swept: tiles of thread blocks, in two dimensions strips of warps.
struct MomentTiling {
    int cells_per_thread;
    int rows;           // see MomentKernel; 0: none fits the shared memory
    int own_x, own_y;   // cells of a tile that are stored
    int units_a_block;  // tiles of a thread block
    int units_at_once;  // on a multiprocessor
};

/// What a unit's tile has: walls, those among them that are not half-way to solid cells, and warps along y.
struct MomentUnitKind {
    bool walls = false, cuts = false, at_x_face = false;

    /// Where such units are; empty for those without walls.
    const char* words() const {
        return at_x_face ? (cuts ? "at faces across x, walls at distances" : "at faces across x")
               : cuts    ? "at walls at distances"
               : walls   ? "at walls"
                         : "";
    }
    bool operator==(const MomentUnitKind&) const = default;
};

/// Tiles without walls and with walls, which in three dimensions are no higher and have fewer cells to a thread; and
/// those at faces along x with walls, whose warps lie along y, so that all cells of a warp have walls.
struct MomentTilings {
    MomentTiling clean, walled, at_x_face;
    InShared kept;

    const MomentTiling& of(const MomentUnitKind& kind) const {
        return kind.at_x_face ? at_x_face : kind.walls ? walled : clean;
    }
};

/// The tiles of a block: of those without walls which take least time, of others the largest that fit. `cuts` says
/// whether there are walls that are not half-way to solid cells, where threads keep more.
MomentTilings moment_tilings(const backend::BlockSpec& spec, const DeviceInfo& device, bool cuts);

/// What is left of an interior where the shell is deeper than it needs to be. Along y it is as high as a tile, which
/// takes as long for two rows as for all that it has room for, unless too little is left. Along z deeper ones gain
/// nothing.
backend::RowBox inner_rows(const backend::RowBox& interior, const MomentTiling& tiling, const Address& address, int D);

/// The threads of a thread block of an update, and its shared memory.
struct MomentThreads {
    unsigned threads, bytes;
};
MomentThreads moment_threads(const backend::BlockSpec& spec, const MomentKernel& kind);

/// The units that a block's updates sweep, by their kinds.
class MomentUnits {
public:
    using Kind = MomentUnitKind;
    static constexpr int kind_count = 5;
    /// Those that take longest first.
    static constexpr Kind kinds[kind_count] = {
        {true, true, true}, {true, true, false}, {true, false, true}, {true, false, false}, {}};

    struct List {
        DeviceBuffer units;
        int count = 0;
    };

    /// Divides the rows of a box as for one of `at_once` that share the GPU evenly.
    MomentUnits(const backend::RowBox& rows, const MomentTilings& tilings, const Address& address, int D, int steps,
                const DeviceInfo& device, const DeviceMomentWalls& walls, const WorkStream& stream, int at_once);

    /// The units of number k of `kinds`.
    const List& of(int k) const { return lists_[k]; }
    std::size_t bytes() const;

private:
    List lists_[kind_count];
};

}  // namespace lbm::cuda
