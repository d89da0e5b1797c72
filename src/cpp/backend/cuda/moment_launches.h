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

/// Tiles without walls and with walls: in three dimensions as high, and with fewer cells to a thread.
struct MomentTilings {
    MomentTiling clean, walled;
};

/// The largest tiles that fit, of a block that has walls anywhere or none.
MomentTilings moment_tilings(const backend::BlockSpec& spec, const DeviceInfo& device, bool has_walls);

/// The threads of a thread block of an update, and its shared memory.
struct MomentThreads {
    unsigned threads, bytes;
};
MomentThreads moment_threads(const backend::BlockSpec& spec, const MomentKernel& kind);

/// The units that a block's updates sweep with walls, those among them with walls that are not half-way to solid cells,
/// and those without any.
class MomentUnits {
public:
    enum class Kind { Clean, Walled, Cut };
    static constexpr Kind kinds[] = {Kind::Cut, Kind::Walled, Kind::Clean};  // those that take longest first

    struct List {
        DeviceBuffer units;
        int count = 0;
    };

    /// Divides the rows of a box, of which `at_once` are updated side by side.
    MomentUnits(const backend::RowBox& rows, const MomentTilings& tilings, const Address& address, int D, int steps,
                const DeviceInfo& device, const DeviceMomentWalls& walls, const WorkStream& stream, int at_once);

    /// The end of the rows along y.
    int end_y() const { return end_y_; }
    const List& of(Kind kind) const { return lists_[int(kind)]; }
    std::size_t bytes() const { return lists_[0].units.bytes() + lists_[1].units.bytes() + lists_[2].units.bytes(); }

private:
    int end_y_;
    List lists_[3];
};

}  // namespace lbm::cuda
