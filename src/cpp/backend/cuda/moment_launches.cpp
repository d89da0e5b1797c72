// Chooses tiles and segments for updates of moments, and finds those with walls.
#include "moment_launches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

/// The layers of a segment where units take unlike times: so that the layers that are swept and not stored, 2 `steps` a
/// segment, cost as much as half a segment at the end, when most thread blocks are done.
int segment_beside_walls(Index tiles, int layers, int steps, Index at_once) {
    const double best = std::sqrt(4.0 * steps * double(layers) * double(tiles) / double(at_once));
    return std::max(4 * steps, int(best));
}

/// The layers of a segment with which the last thread blocks are done first. Each sweeps 2 `steps` layers more than it
/// stores.
int segment(Index tiles, int layers, int steps, Index at_once) {
    constexpr int shortest = 4;  // layers
    int best = layers;
    Index least = std::numeric_limits<Index>::max();
    for (int n = 1; n <= std::max(1, layers / shortest); ++n) {
        const int own = (layers + n - 1) / n;
        const Index units = tiles * ((layers + own - 1) / own);
        const Index time = (units + at_once - 1) / at_once * (own + 2 * steps);
        if (time < least) {
            least = time;
            best = own;
        }
    }
    return best;
}

}  // namespace

MomentTiling moment_tiling(const backend::BlockSpec& spec, const DeviceInfo& device, bool walls) {
    const unsigned most = std::min(most_shared_bytes, unsigned(device.shared_bytes_per_block));
    MomentTiling tiling{};
    for_shapes_of(spec, spec.state->steps_per_launch, [&]<class Shape>(int rows) {
        if (Shape::bytes <= most) {
            if constexpr (requires { Shape::own_lanes; }) {
                tiling = {
                    Shape::cells, rows, Shape::own_lanes * Shape::cells, 1, Shape::warps, Shape::blocks * Shape::warps};
            } else {
                const int cells = walls ? 1 : Shape::cells;
                tiling = {cells, rows, 32 * cells, rows, 1, 1};
            }
        }
    });
    return tiling;
}

MomentThreads moment_threads(const backend::BlockSpec& spec, const MomentKernel& kind) {
    MomentThreads found{};
    for_shapes_of(spec, kind.steps, [&]<class Shape>(int rows) {
        if (rows == kind.rows) {
            using Narrow = typename Shape::Narrow;
            const bool is_narrow = kind.cells_per_thread < Shape::cells;
            found = {unsigned(is_narrow ? Narrow::threads : Shape::threads), is_narrow ? Narrow::bytes : Shape::bytes};
        }
    });
    return found;
}

namespace {

/// Layers along the last axis, all swept with walls or all without.
struct Run {
    int first, end;
    bool has_walls;
};

/// Divides layers into runs. Short ones between walls go with these, as a run is swept with so many layers more.
std::vector<Run> runs_of(int first, int end, int more, const std::vector<bool>& has_walls) {
    const int shortest = 4 * more;
    std::vector<Run> runs;
    for (int z = first, next = z; z < end; z = next) {
        const bool walls = has_walls[std::size_t(z - first)];
        for (next = z; next < end && has_walls[std::size_t(next - first)] == walls; ++next) {
        }
        const bool walled = walls || (next - z < shortest && (z > first || next < end));
        if (!runs.empty() && runs.back().has_walls == walled) {
            runs.back().end = next;
        } else {
            runs.push_back({z, next, walled});
        }
    }
    return runs;
}

}  // namespace

MomentUnits::MomentUnits(const backend::RowBox& rows, const MomentTiling& clean, const MomentTiling& walled,
                         const Address& address, int D, int steps, const DeviceInfo& device,
                         const DeviceMomentWalls& walls, const WorkStream& stream)
    : end_y_(rows.y + rows.ny) {
    const bool solid = D == 3;
    const int first = solid ? rows.z : rows.y, layers = solid ? rows.nz : rows.ny;
    const int tiles_y = solid ? (rows.ny + clean.own_y - 1) / clean.own_y : 1;
    const Index tiles = Index((address.nx + clean.own_x - 1) / clean.own_x) * tiles_y;
    const Index at_once = Index(device.multiprocessors) * clean.units_at_once;
    const int longest = walls.is_any() ? segment_beside_walls(tiles, layers, steps, at_once)
                                       : segment(tiles, layers, steps, at_once);
    std::vector<MomentUnit> lists[2];
    const auto add = [&](int x, int y, const Run& run) {
        const int count = (run.end - run.first + longest - 1) / longest;
        const int own = (run.end - run.first + count - 1) / count;
        for (int z = run.first; z < run.end; z += own) {
            lists[run.has_walls ? 1 : 0].push_back({x, y, z, std::min(own, run.end - z)});
        }
    };
    for (int tile = 0; tile < tiles_y; ++tile) {
        const int y = solid ? rows.y + tile * clean.own_y : 0, tile_end_y = std::min(y + clean.own_y, end_y_);
        for (int x = 0; x < address.nx; x += clean.own_x) {
            const int end_x = std::min(x + clean.own_x, address.nx);
            // Whether what a sweep reads for a layer that it stores has walls.
            std::vector<bool> has_walls(std::size_t(layers), false);
            for (int z = first - steps; walls.is_any() && z < first + layers + steps; ++z) {
                const bool any = solid
                                     ? walls.has_any(x - steps, end_x + steps, y - steps, tile_end_y + steps, z, z + 1)
                                     : walls.has_any(x - steps, end_x + steps, z, z + 1, 0, 1);
                for (int of = std::max(first, z - steps); any && of <= std::min(z + steps, first + layers - 1); ++of) {
                    has_walls[std::size_t(of - first)] = true;
                }
            }
            for (const Run& run : runs_of(first, first + layers, 2 * steps, has_walls)) {
                for (int part = x; part < end_x; part += run.has_walls ? walled.own_x : clean.own_x) {
                    add(part, y, run);
                }
            }
        }
    }
    for (const bool with : {false, true}) {
        List& list = with ? walled_ : clean_;
        list.count = int(lists[int(with)].size());
        upload(list.units, stream, lists[int(with)]);
    }
}

}  // namespace lbm::cuda
