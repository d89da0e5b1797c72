// Leaves out the rows, and the ends of rows, that have links with other blocks.
#include "interior.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../backend/block_layout.h"
#include "../backend/devices.h"

namespace lbm::engine {
namespace {

/// The speeds by which the rows that hide an exchange are counted: low ones of the exchange, a high one of the update.
/// Twice as many rows as needed cost less than a part of the exchange that is not hidden.
struct Speeds {
    double latency;  // seconds
    double link;     // bytes per second between two blocks
    double memory;   // bytes per second read and written by the update
};
constexpr Speeds of_gpus{60e-6, 50e9, 4.5e12};
constexpr Speeds of_cpus{50e-6, 5e9, 100e9};

/// Seconds that the exchange of a block may take; `cut` are the faces behind which there is another block.
double exchange_seconds(const backend::BlockSpec& whole, const Block& block, const bool (&cut)[6],
                        const Speeds& speeds) {
    const int depth = backend::halo_depth(whole);
    const int across = backend::with_stencil(whole.stencil, [&](auto s) {
        return depth > 1 ? depth * backend::numbers_of_cell(whole) : Stencil<decltype(s)>::through_x_face;
    });
    double numbers = 0;
    for (int face = 0; face < 6; ++face) {
        const int axis = face / 2;
        numbers += cut[face] ? double(block.cells()) / block.size[axis] * across : 0;
    }
    return speeds.latency + numbers * double(backend::size_of(whole.storage)) / speeds.link;
}

/// Cuts a box of trimmed rows down to as many as are updated in so many seconds, in layers if there are several.
void keep_enough(backend::Interior& interior, const backend::BlockSpec& whole, double seconds, const Speeds& speeds) {
    const int moved = 2 * backend::numbers_of_cell(whole) * int(backend::size_of(whole.storage));
    const double bytes = double(interior.end_x - interior.first_x) * moved;
    const double rows = std::ceil(seconds * speeds.memory / bytes);
    backend::RowBox& box = interior.rows;
    if (box.nz > 1) {
        box.nz = int(std::min<double>(box.nz, std::ceil(rows / box.ny)));
    } else {
        box.ny = int(std::min<double>(box.ny, rows));
    }
}

bool has_late_interior(const backend::BlockSpec& whole, const Block& block) {
    return block.device != "cpu" && whole.state->make_block == nullptr && whole.state->steps_per_launch == 1 &&
           backend::halo_depth(whole) == 1 && !backend::is_hybrid(whole) && !backend::keeps_velocity(whole);
}

/// Half of the rows from `first` to before `end`, in layers if there are enough. It leaves out the last layer before a
/// periodic face of the block, which is beside the first rows of the shell.
backend::Interior late_interior(const Domain& domain, const Block& block, const int (&first)[3], const int (&end)[3]) {
    constexpr int least = 8;
    const int axis = end[2] - first[2] >= least ? 2 : 1;
    const int layers = end[axis] - first[axis];
    if (layers < least) {
        return {};
    }
    const bool around = is_periodic(domain.faces[2 * axis]) && block.size[axis] == domain.size[axis];
    const int from = first[axis] + layers / 2, to = end[axis] - (around ? 1 : 0);
    return axis == 2 ? backend::Interior{{first[1], from, end[1] - first[1], to - from}, 0, block.size[0], true}
                     : backend::Interior{{from, first[2], to - from, end[2] - first[2]}, 0, block.size[0], true};
}

}  // namespace

backend::Interior interior_of(const Domain& domain, const backend::BlockSpec& whole, const Block& block,
                              bool may_be_late) {
    if (whole.state->lattices_overlap) {  // the order of the layers decides which of them may be updated first
        return {};
    }
    const int depth = backend::halo_depth(whole);
    bool cut[6];
    int first[3], end[3];
    for (int a = 0; a < 3; ++a) {
        const bool around = is_periodic(domain.faces[2 * a]) && block.size[a] < domain.size[a];
        cut[2 * a] = around || block.offset[a] > 0;
        cut[2 * a + 1] = around || block.offset[a] + block.size[a] < domain.size[a];
        first[a] = cut[2 * a] ? depth : 0;
        end[a] = block.size[a] - (cut[2 * a + 1] ? depth : 0);
    }
    const bool trimmed = cut[0] || cut[1];
    if (trimmed) {
        if (may_be_late && has_late_interior(whole, block)) {
            return late_interior(domain, block, first, end);
        }
        const int unit = backend::trim_unit(whole, block.device);
        if (unit == 0) {
            return {};
        }
        first[0] = (depth + unit - 1) / unit * unit;
        end[0] = (block.size[0] - depth) / unit * unit;
    }
    if (end[0] <= first[0] || end[1] <= first[1] || end[2] <= first[2]) {
        return {};
    }
    backend::Interior interior{{first[1], first[2], end[1] - first[1], end[2] - first[2]}, first[0], end[0]};
    if (trimmed) {
        const Speeds& speeds = block.device == "cpu" ? of_cpus : of_gpus;
        keep_enough(interior, whole, exchange_seconds(whole, block, cut, speeds), speeds);
    }
    return interior;
}

bool has_interiors(const Layout& layout, const std::string& schedule) {
    if (schedule.empty()) {  // copies between blocks of one process on the CPU leave nothing to overlap with
        return std::any_of(layout.blocks().begin(), layout.blocks().end(),
                           [](const Block& block) { return block.device != "cpu" || block.rank != 0; });
    }
    if (schedule != "overlap" && schedule != "blocking") {
        throw std::invalid_argument("schedule: '" + schedule +
                                    "' given, must be overlap or blocking (LBMGPU_SCHEDULE)");
    }
    return schedule == "overlap";
}

}  // namespace lbm::engine
