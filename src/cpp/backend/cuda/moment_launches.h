// The tiles of an update of a block whose state is moments: their shapes, and the threads that sweep them.
#pragma once

#include <algorithm>

#include "../row_box.h"
#include "device.h"
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
    InShared kept = {};

    /// How many tiles cover the rows of a layer.
    Index count(int nx, int ny) const { return Index((nx + own_x - 1) / own_x) * ((ny + own_y - 1) / own_y); }
    /// How many the GPU sweeps at once for each of the boxes that share it evenly.
    Index at_once(const DeviceInfo& device, int boxes) const {
        return std::max(Index(device.multiprocessors) * units_at_once / boxes, Index(1));
    }
};

/// Faces of a block with walls, whose units have tiles of their own.
enum class MomentFace { None, X, Y };

/// What a unit's tile has: walls, those among them that are not half-way to solid cells, and the face at which it lies.
struct MomentUnitKind {
    bool walls = false, cuts = false;
    MomentFace face = MomentFace::None;

    /// Where such units are; empty for those without walls.
    const char* words() const {
        switch (face) {
            case MomentFace::X: return cuts ? "at faces across x, walls at distances" : "at faces across x";
            case MomentFace::Y: return cuts ? "at faces across y, walls at distances" : "at faces across y";
            default: return cuts ? "at walls at distances" : walls ? "at walls" : "";
        }
    }
    bool operator==(const MomentUnitKind&) const = default;
};

/// Tiles without walls and with walls, which in three dimensions are no higher and have fewer cells to a thread; those
/// at faces across x with walls, whose warps lie along y, so that all cells of a warp have walls; and those at faces
/// across y, which are so low that a multiprocessor has room for two: they have no rows where it has not.
struct MomentTilings {
    MomentTiling clean, walled, at_x_face, at_y_face;

    const MomentTiling& of(const MomentUnitKind& kind) const {
        return kind.face == MomentFace::X   ? at_x_face
               : kind.face == MomentFace::Y ? at_y_face
               : kind.walls                 ? walled
                                            : clean;
    }
};

/// What else says how many numbers threads keep: the force, and whether there are walls that are not half-way to solid
/// cells, and such whose values change in time.
struct MomentNeeds {
    Forcing forcing;
    bool cuts, scaled;
};

/// The tiles of a block: of those without walls which take least time, of others the largest that fit, with as much of
/// what threads keep in shared memory as leaves them high enough.
MomentTilings moment_tilings(const backend::BlockSpec& spec, const DeviceInfo& device, const MomentNeeds& needs);

/// What is left of an interior where the shell is deeper than it needs to be. Along y it is as high as a tile, which
/// takes as long for two rows as for all that it has room for, unless too little is left. Along z deeper ones gain
/// nothing.
backend::RowBox inner_rows(const backend::RowBox& interior, const MomentTiling& tiling, const Address& address, int D);

/// The threads of a thread block of an update, and its shared memory.
struct MomentThreads {
    unsigned threads, bytes;
};
MomentThreads moment_threads(const backend::BlockSpec& spec, const MomentKernel& kind);

}  // namespace lbm::cuda
