// Chooses tiles for updates of moments.
#include "moment_launches.h"

#include <algorithm>
#include <limits>

#include "../block_layout.h"
#include "../kinds.h"
#include "../moment_force.h"
#include "moment_segments.h"

namespace lbm::cuda {
namespace {

/// More shared memory than this leaves the first-level cache too little, but at walls, where what registers have no
/// room for would be in that cache otherwise.
constexpr unsigned most_shared_bytes = 200 << 10;

/// Cells of a thread that are loaded at once, and the most rows of a tile, with which a thread block has 512 threads or
/// fewer: registers have room for what a thread keeps. Tiles with walls have fewer cells to a thread and more threads
/// beside the ends of rows.
template <class Real>
struct OfPrecision;
template <>
struct OfPrecision<float> {
    static constexpr int cells = 2, rows = 11, rows_with_walls = 10;
};
template <>
struct OfPrecision<double> {
    static constexpr int cells = 1, rows = 7, rows_with_walls = 6;
};

/// Tiles at faces along x are so thin that a multiprocessor has room for two thread blocks in float32, one of which
/// goes on while the other waits for its wall.
constexpr int rows_at_x_faces = 4;

/// Calls visit.operator()<Shape>(rows) for the shapes of an update of `steps` steps, from the smallest on.
template <class S, class Real, int steps, class Visit>
void for_shapes(int most_steps, Visit&& visit) {
    using Of = OfPrecision<Real>;
    if constexpr (S::D == 3) {
        static_for<Of::rows>(
            [&]<int k>() { visit.template operator()<MomentShape<S, Real, Of::cells, steps, k + 1>>(k + 1); });
    } else {
        static_for<backend::most_moment_steps>([&]<int k>() {
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
                static_for<backend::most_moment_steps>([&]<int k>() {
                    if (k + 1 == steps) {
                        for_shapes<S, decltype(real), k + 1>(spec.state->steps_per_launch, visit);
                    }
                });
            });
        }
    });
}

/// What an update of a block in three dimensions without walls takes, in layers of one warp: instructions bound it, of
/// the rows beside those that a tile stores too. High tiles have few of these, low ones divide few rows more evenly.
double time_of_update(const backend::BlockSpec& spec, const DeviceInfo& device, const MomentTiling& tiling, int warps) {
    const backend::Slabs slabs =
        spec.state->lattices_overlap ? backend::slabs_of(spec, backend::Device::Gpu) : backend::Slabs{1, 1, 0};
    const auto& [nx, ny, nz] = spec.size;
    const int layers = (nz + slabs.count - 1) / slabs.count;
    return warps * moment_segments({tiling.count(nx, ny), layers, spec.state->steps_per_launch,
                                    tiling.at_once(device, slabs.at_once), 0, slabs.at_once > 1})
                       .swept;
}

/// The tiles without walls that take least time.
MomentTiling clean_tiling(const backend::BlockSpec& spec, const DeviceInfo& device) {
    const unsigned most = std::min(most_shared_bytes, unsigned(device.shared_bytes_per_block));
    MomentTiling found{};
    double least = std::numeric_limits<double>::max();
    for_shapes_of(spec, spec.state->steps_per_launch, [&]<class Shape>(int rows) {
        if constexpr (requires { Shape::own_lanes; }) {
            found = {
                Shape::cells, rows, Shape::own_lanes * Shape::cells, 1, Shape::warps, Shape::blocks * Shape::warps};
        } else if (Shape::bytes <= most) {
            const MomentTiling tiling{Shape::cells, rows, 32 * Shape::cells, rows, 1, 1};
            const double time = time_of_update(spec, device, tiling, Shape::warps);
            if (time <= least) {
                least = time;
                found = tiling;
            }
        }
    });
    return found;
}

/// Adds the largest tiles with walls that fit, no higher than the others, with this of what threads keep there in
/// shared memory.
void add_walled_tilings(MomentTilings& to, const backend::BlockSpec& spec, unsigned most, bool cuts, InShared kept) {
    to.walled = to.at_x_face = {};
    to.kept = kept;
    backend::with_real(spec.precision, [&](auto real) {
        const int most_rows = std::min(OfPrecision<decltype(real)>::rows_with_walls, to.clean.rows);
        for_shapes_of(spec, spec.state->steps_per_launch, [&]<class Shape>(int rows) {
            if constexpr (requires { Shape::own_lanes; }) {
                to.walled = to.clean;
            } else {
                using Narrow = typename Shape::Narrow;
                using AtXFace = typename Shape::AtXFace;
                if (rows <= most_rows && Narrow::bytes + Narrow::at_walls(cuts, kept) <= most) {
                    to.walled = {1, rows, 32, rows, 1, 1};
                }
                if (rows <= rows_at_x_faces && AtXFace::bytes + AtXFace::at_walls(cuts, kept) <= most) {
                    to.at_x_face = {1, rows, rows, AtXFace::row_lanes, 1, AtXFace::blocks};
                }
            }
        });
    });
}

}  // namespace

MomentTilings moment_tilings(const backend::BlockSpec& spec, const DeviceInfo& device, bool cuts) {
    MomentTilings tilings{};
    tilings.clean = clean_tiling(spec, device);
    for (const InShared kept : {InShared::SumsToo, InShared::Populations, InShared::Nothing}) {
        add_walled_tilings(tilings, spec, unsigned(device.shared_bytes_per_block), cuts, kept);
        if (5 * tilings.walled.rows >= 3 * tilings.clean.rows) {  // lower ones would compute too many cells twice
            break;
        }
    }
    return tilings;
}

backend::RowBox inner_rows(const backend::RowBox& interior, const MomentTiling& tiling, const Address& address, int D) {
    if (D < 3) {
        return interior;
    }
    const auto outside = [&](int cut) { return cut == 0 ? 0 : std::max(cut, tiling.own_y); };
    const int before = outside(interior.y), behind = outside(address.ny - interior.y - interior.ny);
    const int rows = address.ny - before - behind;
    if (rows < 2 * tiling.own_y) {
        return interior;
    }
    return {before, interior.z, rows, interior.nz};
}

MomentThreads moment_threads(const backend::BlockSpec& spec, const MomentKernel& kind) {
    MomentThreads found{};
    const auto set = [&]<class Shape>(const Shape&) {
        found = {unsigned(Shape::threads), Shape::bytes + (kind.walls ? Shape::at_walls(kind.cuts, kind.kept) : 0)};
    };
    for_shapes_of(spec, kind.steps, [&]<class Shape>(int rows) {
        if (rows == kind.rows && kind.along_y) {
            set(typename Shape::AtXFace{});
        } else if (rows == kind.rows && kind.cells_per_thread < Shape::cells) {
            set(typename Shape::Narrow{});
        } else if (rows == kind.rows) {
            set(Shape{});
        }
    });
    return found;
}

}  // namespace lbm::cuda
