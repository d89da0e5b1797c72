// Chooses tiles for updates of moments.
#include "moment_launches.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "../block_layout.h"
#include "../kinds.h"
#include "../moment_force.h"
#include "../moment_kind.h"
#include "moment_segments.h"

namespace lbm::cuda {
namespace {

/// More shared memory than this, with the 1 KiB of the driver, leaves the first-level cache too little for loads in
/// flight: with 227 KiB recursive regularisation in D3Q27 takes 1.2 times as long on an H200. At walls what registers
/// have no room for would be in that cache otherwise.
constexpr unsigned most_shared_bytes = 195 << 10;
/// Of that of a multiprocessor the driver takes so much for each thread block, and a thread block may have the rest.
constexpr unsigned bytes_of_driver = 1 << 10;

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
    static constexpr int cells = 1, rows = 10, rows_with_walls = 6;
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

/// How many of the sums of a thread's cells lie in shared memory where there are no walls, as its registers have no
/// room for them: so many that the assembler of CUDA 13.0 spills none. Thread blocks of 8 warps have 255 registers a
/// thread, those of 12 have 168, and larger ones 128.
int sums_without_registers(const backend::BlockSpec& spec, const DeviceInfo& device, Forcing forcing, int warps) {
    const bool is_plain = forcing == Forcing::None && !spec.has_eddy_viscosity;
    const bool is_uniform = forcing == Forcing::Uniform && !spec.has_eddy_viscosity;
    bool all_orders = false, solid = false, cornered = false;
    backend::with_stencil(spec.stencil, [&](auto s) {
        solid = decltype(s)::D == 3;
        cornered = CubicPairs<decltype(s)>::corners > 0;
    });
    backend::with_moment_collision(
        spec.collision, [&](auto collision) { all_orders = decltype(collision)::moment_orders == MomentOrders::All; });
    const auto of = [&](int d3q19, int d3q19_all_orders, int d3q27, int d3q27_all_orders) {
        return cornered ? (all_orders ? d3q27_all_orders : d3q27) : all_orders ? d3q19_all_orders : d3q19;
    };
    const bool is_double = spec.precision == backend::NumberKind::Float64;
    const bool is_newer = device.major >= 10;                    // for which the assembler spills more
    const bool is_large = block_size(spec) == BlockSize::Large;  // whose kernels need no register for the pitch of rows
    if (!solid) {
        return is_double ? (is_plain ? 12 : 24) : is_plain ? 0 : 24;
    }
    if (warps <= 12) {
        return is_double && warps > 8 ? of(0, 0, 0, 12) : 0;
    }
    if (is_double) {
        return is_plain ? of(is_large && !is_newer ? 0 : 2, 12, 6, 24) : 24;
    }
    const int plain_d3q27 = is_newer ? 4 : device.major == 9 ? 2 : 3;
    const int sums = is_plain     ? of(is_large || is_newer ? 0 : 8, 0, plain_d3q27, 16)
                     : is_uniform ? of(12, 16, 12, 20)
                                  : of(20, 24, 24, 28);
    return sums + (is_newer ? of(4, is_plain && device.major >= 12 ? 20 : 12, 4, is_plain ? 8 : 12) : 0);
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

/// How many thread blocks with these bytes of shared memory a multiprocessor has at once, `most` at most.
int blocks_at_once(const DeviceInfo& device, unsigned bytes, int most) {
    const unsigned all = unsigned(device.shared_bytes_per_block) + bytes_of_driver;
    return std::clamp(int(all / (bytes + bytes_of_driver)), 1, most);
}

/// A strip for a warp.
template <class Shape>
MomentTiling strip(int extra_lanes, const DeviceInfo& device, unsigned bytes, InShared kept) {
    return {Shape::cells,
            extra_lanes,
            Shape::own_lanes * Shape::cells,
            1,
            Shape::warps,
            blocks_at_once(device, bytes, Shape::blocks(bytes)) * Shape::warps,
            kept};
}

/// The tiles without walls that take least time.
MomentTiling clean_tiling(const backend::BlockSpec& spec, const DeviceInfo& device, Forcing forcing) {
    const unsigned most = std::min(most_shared_bytes, unsigned(device.shared_bytes_per_block));
    MomentTiling found{};
    double least = std::numeric_limits<double>::max();
    for_shapes_of(spec, spec.state->steps_per_launch, [&]<class Shape>(int rows) {
        const InShared kept{false, sums_without_registers(spec, device, forcing, Shape::warps)};
        const unsigned bytes = Shape::bytes(false, false, kept);
        if constexpr (requires { Shape::own_lanes; }) {
            found = strip<Shape>(rows, device, bytes, kept);
        } else if (bytes <= most) {
            const MomentTiling tiling{Shape::cells, rows, 32 * Shape::cells, rows, 1, 1, kept};
            const double time = time_of_update(spec, device, tiling, Shape::warps);
            if (time <= least) {
                least = time;
                found = tiling;
            }
        }
    });
    return found;
}

/// What of the numbers that threads keep at walls may lie in shared memory, the best choice first: with sums of two
/// layers registers have room for the others, but with values that change in time, and in two dimensions, where a
/// thread has cells of six steps.
std::vector<InShared> choices_at_walls(const backend::BlockSpec& spec, int cells_per_thread, bool scaled) {
    std::vector<InShared> choices;
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        if constexpr (!Stencil<S>::multispeed) {
            const int cells = S::D == 2 ? cells_per_thread : 1, of_thread = cells * spec.state->steps_per_launch;
            if (scaled || S::D == 2) {
                choices.push_back({true, of_thread * all_sums<S>});
            }
            choices.push_back({true, of_thread * TwoLayers<S, float>::numbers});
        }
    });
    choices.push_back({true, 0});
    choices.push_back({false, 0});
    return choices;
}

/// Adds the largest tiles with walls that fit, no higher than the others, with this of what threads keep there in
/// shared memory. False if they are so low that they compute too many cells twice.
bool add_walled_tilings(MomentTilings& to, const backend::BlockSpec& spec, const DeviceInfo& device, bool cuts,
                        InShared kept) {
    const auto most = unsigned(device.shared_bytes_per_block);
    to.walled = to.at_x_face = to.at_y_face = {};
    int most_rows = 0;
    backend::with_real(spec.precision, [&](auto real) {
        most_rows = std::min(OfPrecision<decltype(real)>::rows_with_walls, to.clean.rows);
        for_shapes_of(spec, spec.state->steps_per_launch, [&]<class Shape>(int rows) {
            if constexpr (requires { Shape::own_lanes; }) {
                const unsigned bytes = Shape::bytes(true, cuts, kept);
                most_rows = rows;
                if (bytes <= most) {
                    to.walled = strip<Shape>(rows, device, bytes, kept);
                }
            } else {
                using Narrow = typename Shape::Narrow;
                using AtXFace = typename Shape::AtXFace;
                const unsigned narrow_bytes = Narrow::bytes(true, cuts, kept);
                if (rows <= most_rows && narrow_bytes <= most) {
                    to.walled = {1, rows, 32, rows, 1, 1, kept};
                }
                // With fewer rows tiles without walls would read the row at the face.
                const int narrow_at_once = blocks_at_once(device, narrow_bytes, Narrow::blocks);
                if (rows > spec.state->steps_per_launch && narrow_at_once > 1) {
                    to.at_y_face = {1, rows, 32, rows, 1, narrow_at_once, kept};
                }
                const unsigned bytes = AtXFace::bytes(true, cuts, kept);
                if (rows <= rows_at_x_faces && bytes <= most) {
                    const int at_once = blocks_at_once(device, bytes, AtXFace::blocks);
                    to.at_x_face = {1, rows, rows, AtXFace::row_lanes, 1, at_once, kept};
                }
            }
        });
    });
    return 2 * to.walled.rows >= most_rows;
}

}  // namespace

MomentTilings moment_tilings(const backend::BlockSpec& spec, const DeviceInfo& device, const MomentNeeds& needs) {
    MomentTilings tilings{};
    tilings.clean = clean_tiling(spec, device, needs.forcing);
    for (const InShared& kept : choices_at_walls(spec, tilings.clean.cells_per_thread, needs.scaled)) {
        if (add_walled_tilings(tilings, spec, device, needs.cuts, kept)) {
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
        found = {unsigned(Shape::threads), Shape::bytes(kind.walls, kind.cuts, kind.kept)};
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
