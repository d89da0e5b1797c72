// How an update of a block whose state is moments is divided among thread blocks: the shape of tiles, and which tiles
// of segments along the last axis have walls.
#pragma once

#include <utility>
#include <vector>

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

/// The largest tiles that fit.
MomentTiling moment_tiling(const backend::BlockSpec& spec, const DeviceInfo& device);

/// The threads of a thread block of an update, and its shared memory.
struct MomentThreads {
    unsigned threads, bytes;
};
MomentThreads moment_threads(const backend::BlockSpec& spec, const MomentKernel& kind);

/// The rows of a box, in tiles of segments: those with walls and those without.
class MomentUnits {
public:
    MomentUnits(const backend::RowBox& rows, const MomentTiling& tiling, const Address& address, int D, int steps,
                const DeviceInfo& device, const DeviceMomentWalls& walls, const WorkStream& stream);

    const backend::RowBox& rows() const { return rows_; }
    int layers() const { return layers_; }
    int tiles_x() const { return tiles_x_; }
    int tiles_y() const { return tiles_y_; }
    /// The units with walls or without, and their number; no list where these are all.
    std::pair<const int*, int> with_walls(bool walls) const {
        const int count = walls ? walled_count_ : all_ - walled_count_;
        return {count == all_ ? nullptr : (walls ? walled_ : clean_).as<int>(), count};
    }
    std::size_t bytes() const { return walled_.bytes() + clean_.bytes(); }

private:
    backend::RowBox rows_;
    int layers_, tiles_x_, tiles_y_, all_, walled_count_ = 0;
    DeviceBuffer walled_, clean_;
};

}  // namespace lbm::cuda
