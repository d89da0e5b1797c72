// Chooses tiles and segments for updates of moments, and finds those with walls.
#include "moment_launches.h"

#include <algorithm>
#include <limits>

#include "../kinds.h"

namespace lbm::cuda {
namespace {

/// More shared memory than this leaves the first-level cache too little.
constexpr unsigned most_shared_bytes = 200 << 10;
constexpr int most_moment_steps = 6;

/// Cells of a thread that are loaded at once, and the most rows of a tile, with which a thread block has 512 threads or
/// fewer: registers have room for what a thread keeps.
template <class Real>
struct OfPrecision;
template <>
struct OfPrecision<float> {
    static constexpr int cells = 2, rows = 11;
};
template <>
struct OfPrecision<double> {
    static constexpr int cells = 1, rows = 7;
};

/// Calls visit.operator()<Shape>(rows) for the shapes of an update of `steps` steps, from the smallest on.
template <class S, class Real, int steps, class Visit>
void for_shapes(int most_steps, Visit&& visit) {
    using Of = OfPrecision<Real>;
    if constexpr (S::D == 3) {
        static_for<Of::rows>(
            [&]<int k>() { visit.template operator()<MomentShape<S, Real, Of::cells, steps, k + 1>>(k + 1); });
    } else {
        static_for<most_moment_steps>([&]<int k>() {
            constexpr int extra = k + 1;
            if constexpr (extra * Of::cells >= steps) {
                if (extra == (most_steps + Of::cells - 1) / Of::cells) {
                    visit.template operator()<StripShape<S, Real, Of::cells, steps, extra>>(extra);
                }
            }
        });
    }
}

/// The same for the stencil and the precision of a block.
template <class Visit>
void for_shapes_of(const backend::BlockSpec& spec, int steps, Visit&& visit) {
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        if constexpr (!Stencil<S>::multispeed) {
            backend::with_real(spec.precision, [&](auto real) {
                static_for<most_moment_steps>([&]<int k>() {
                    if (k + 1 == steps) {
                        for_shapes<S, decltype(real), k + 1>(spec.state->steps_per_launch, visit);
                    }
                });
            });
        }
    });
}

/// The number of segments with which the last thread blocks are done first. Each sweeps 2 `steps` layers more than it
/// stores.
int segments(Index tiles, int layers, int steps, Index at_once) {
    constexpr int shortest = 4;  // layers
    int best = 1;
    Index least = std::numeric_limits<Index>::max();
    for (int n = 1; n <= std::max(1, layers / shortest); ++n) {
        const int own = (layers + n - 1) / n;
        const Index units = tiles * ((layers + own - 1) / own);
        const Index time = (units + at_once - 1) / at_once * (own + 2 * steps);
        if (time < least) {
            least = time;
            best = n;
        }
    }
    return best;
}

}  // namespace

MomentTiling moment_tiling(const backend::BlockSpec& spec, const DeviceInfo& device) {
    const unsigned most = std::min(most_shared_bytes, unsigned(device.shared_bytes_per_block));
    const int V =
        spec.precision == backend::NumberKind::Float32 ? OfPrecision<float>::cells : OfPrecision<double>::cells;
    MomentTiling tiling{};
    for_shapes_of(spec, spec.state->steps_per_launch, [&]<class Shape>(int rows) {
        if (Shape::bytes <= most) {
            if constexpr (requires { Shape::own_lanes; }) {
                tiling = {V, rows, Shape::own_lanes * V, 1, Shape::warps, Shape::blocks * Shape::warps};
            } else {
                tiling = {V, rows, 32 * V, rows, 1, 1};
            }
        }
    });
    return tiling;
}

MomentThreads moment_threads(const backend::BlockSpec& spec, const MomentKernel& kind) {
    MomentThreads found{};
    for_shapes_of(spec, kind.steps, [&]<class Shape>(int rows) {
        if (rows == kind.rows) {
            found = {unsigned(Shape::threads), Shape::bytes};
        }
    });
    return found;
}

MomentUnits::MomentUnits(const backend::RowBox& rows, const MomentTiling& tiling, const Address& address, int D,
                         int steps, const DeviceInfo& device, const DeviceMomentWalls& walls, const WorkStream& stream)
    : rows_(rows) {
    const bool solid = D == 3;
    const int first = solid ? rows.z : rows.y, all_layers = solid ? rows.nz : rows.ny;
    tiles_x_ = (address.nx + tiling.own_x - 1) / tiling.own_x;
    tiles_y_ = solid ? (rows.ny + tiling.own_y - 1) / tiling.own_y : 1;
    const int tiles = tiles_x_ * tiles_y_;
    const int count = segments(tiles, all_layers, steps, Index(device.multiprocessors) * tiling.units_at_once);
    layers_ = (all_layers + count - 1) / count;
    all_ = tiles * ((all_layers + layers_ - 1) / layers_);
    if (!walls.is_any()) {
        return;
    }
    std::vector<int> walled, clean;
    for (int unit = 0; unit < all_; ++unit) {
        const int row_of_tiles = unit / tiles_x_, segment = row_of_tiles / tiles_y_;
        const int x = (unit - row_of_tiles * tiles_x_) * tiling.own_x;
        const int begin = first + segment * layers_, end = std::min(begin + layers_, first + all_layers);
        const int y = solid ? rows.y + (row_of_tiles - segment * tiles_y_) * tiling.own_y : begin;
        const int end_y = solid ? std::min(y + tiling.own_y, rows.y + rows.ny) : end;
        const int end_x = std::min(x + tiling.own_x, address.nx);
        const bool has_walls = walls.has_any(x - steps, end_x + steps, y - steps, end_y + steps,
                                             solid ? begin - steps : 0, solid ? end + steps : 1);
        (has_walls ? walled : clean).push_back(unit);
    }
    walled_count_ = int(walled.size());
    upload(walled_, stream, walled);
    upload(clean_, stream, clean);
}

}  // namespace lbm::cuda
