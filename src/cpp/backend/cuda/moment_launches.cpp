// Chooses tiles and segments for updates of moments, and finds those with walls.
#include "moment_launches.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

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

/// The layers of a segment of a tile with walls, which take unlike times: so that the layers that are swept and not
/// stored, 2 `steps` a segment, cost as much as half a segment at the end, when most thread blocks are done.
int segment_near_walls(Index tiles, int layers, int steps, Index at_once) {
    const double best = std::sqrt(4.0 * steps * double(layers) * double(tiles) / double(at_once));
    return std::max(4 * steps, int(best));
}

/// How many tiles cover the rows of a layer, and how many thread blocks the GPU has at once for each of the boxes that
/// share it evenly.
Index tiles_of(const MomentTiling& tiling, int nx, int ny) {
    return Index((nx + tiling.own_x - 1) / tiling.own_x) * ((ny + tiling.own_y - 1) / tiling.own_y);
}
Index units_at_once(const MomentTiling& tiling, const DeviceInfo& device, int boxes) {
    return std::max(Index(device.multiprocessors) * tiling.units_at_once / boxes, Index(1));
}

/// What an update of a block in three dimensions without walls takes, in layers of one warp: instructions bound it, of
/// the rows beside those that a tile stores too. High tiles have few of these, low ones divide few rows more evenly.
double time_of_update(const backend::BlockSpec& spec, const DeviceInfo& device, const MomentTiling& tiling, int warps) {
    const backend::Slabs slabs =
        spec.state->lattices_overlap ? backend::slabs_of(spec, backend::Device::Gpu) : backend::Slabs{1, 1, 0};
    const auto& [nx, ny, nz] = spec.size;
    const int layers = (nz + slabs.count - 1) / slabs.count;
    return warps * moment_segments({tiles_of(tiling, nx, ny), layers, spec.state->steps_per_launch,
                                    units_at_once(tiling, device, slabs.at_once), 0, slabs.at_once > 1})
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

namespace {

/// Layers along the last axis, all swept with walls or all without.
struct Run {
    int first, end;
    bool has_walls;
};

/// The ends of the parts of a run, none of which has more than `most` layers.
std::vector<int> evenly_cut(const Run& run, int most) {
    const int count = (run.end - run.first + most - 1) / most, own = (run.end - run.first + count - 1) / count;
    std::vector<int> ends;
    for (int z = run.first; z < run.end; z += own) {
        ends.push_back(std::min(z + own, run.end));
    }
    return ends;
}

/// In which of the layers that a tile stores its sweep, which reads `steps` more on each side, has walls.
class WalledLayers {
public:
    template <class HasWalls>
    WalledLayers(int first, int layers, int steps, const HasWalls& has_walls)
        : first_(first), walled_(std::size_t(layers), false) {
        for (int z = first - steps; z < first + layers + steps; ++z) {
            const int begin = std::max(first, z - steps), last = std::min(z + steps, first + layers - 1);
            if (begin <= last && has_walls(z)) {
                std::fill(walled_.begin() + (begin - first), walled_.begin() + (last - first + 1), true);
            }
        }
    }

    bool are_most() const {
        return 2 * std::count(walled_.begin(), walled_.end(), true) > std::ptrdiff_t(walled_.size());
    }
    /// Adds those of another column of the same layers.
    void join(const WalledLayers& other) {
        for (std::size_t k = 0; k < walled_.size(); ++k) {
            walled_[k] = walled_[k] || other.walled_[k];
        }
    }
    /// Divides the layers. Few ones between walls go with these, as a run is swept with `more` layers beside it.
    std::vector<Run> runs(int more) const {
        const int shortest = 4 * more, layers = int(walled_.size());
        std::vector<Run> found;
        for (int z = 0, next = 0; z < layers; z = next) {
            const bool walls = walled_[std::size_t(z)];
            for (next = z; next < layers && walled_[std::size_t(next)] == walls; ++next) {
            }
            const bool has_walls = walls || (next - z < shortest && next - z < layers);
            if (!found.empty() && found.back().has_walls == has_walls) {
                found.back().end = first_ + next;
            } else {
                found.push_back({first_ + z, first_ + next, has_walls});
            }
        }
        return found;
    }

private:
    int first_;
    std::vector<bool> walled_;
};

/// Rows along y that tiles side by side store.
struct Strip {
    int y, rows;
};

/// Divides rows into strips, of `own` rows where there are no walls, and of `walled` rows, no more than these, where
/// tiles with walls have some of them: is_walled(y, rows). The last one with walls ends with the rows, so that it is no
/// sliver, in which the one before it would have walls too.
template <class IsWalled>
std::vector<Strip> strips_of(int first, int end, int own, int walled, const IsWalled& is_walled) {
    std::vector<Strip> found;
    int stop = end;
    if (end - first > walled && is_walled(end - walled, walled)) {
        stop = end - walled;
        found.push_back({stop, walled});
    }
    for (int y = first; y < stop; y += found.back().rows) {
        const int rows = std::min(own, stop - y);
        found.push_back({y, is_walled(y, rows) ? std::min(walled, rows) : rows});
    }
    return found;
}

/// Where faces along x with walls have tiles of their own: the first cells of these, and the cells between them. The
/// last tiles between them reach back over the ones before rather than into the face's; cells that two tiles have get
/// the same numbers.
struct XFaces {
    std::vector<int> tiles;
    int begin, end;
};

/// None where rows are too short for another tile between them, or where there are too few rows.
XFaces x_faces(const backend::RowBox& rows, const MomentTilings& tilings, const Address& address, int D, int steps,
               const DeviceMomentWalls& walls) {
    const MomentTiling &clean = tilings.clean, &at_face = tilings.at_x_face;
    const int cells = clean.cells_per_thread;
    XFaces found{{}, 0, address.nx};
    if (D != 3 || at_face.own_x < steps + cells || rows.ny < at_face.own_y / 2 ||
        address.nx < 2 * at_face.own_x + clean.own_x) {
        return found;
    }
    if (walls.has_face(0, 0)) {
        found.tiles.push_back(0);
        found.begin = at_face.own_x / cells * cells;
    }
    if (walls.has_face(0, 1)) {
        const int first = address.nx - at_face.own_x;
        found.tiles.push_back(first);
        found.end = (first + cells - 1) / cells * cells;
    }
    return found;
}

/// The layers between faces along z with walls or free slip, if there are enough. Those at such faces, where all tiles
/// have walls, are divided on their own: tiles between them may be higher.
Run between_z_faces(const Run& all, const Address& address, int D, int steps, const DeviceMomentWalls& walls) {
    Run found = all;
    if (D == 3) {
        found.first += all.first == 0 && walls.has_face(2, 0) ? steps + 1 : 0;
        found.end -= all.end == address.nz && walls.has_face(2, 1) ? steps + 1 : 0;
    }
    return found.end - found.first < 8 * steps ? all : found;
}

}  // namespace

MomentUnits::MomentUnits(const backend::RowBox& rows, const MomentTilings& tilings, const Address& address, int D,
                         int steps, const DeviceInfo& device, const DeviceMomentWalls& walls, const WorkStream& stream,
                         int at_once) {
    const MomentTiling &clean = tilings.clean, &walled = tilings.walled;
    const bool solid = D == 3;
    const int first = solid ? rows.z : rows.y, layers = solid ? rows.nz : rows.ny, end = first + layers;
    const int first_y = solid ? rows.y : 0, end_y = solid ? rows.y + rows.ny : 1;
    const Index tiles = tiles_of(clean, address.nx, solid ? rows.ny : 1);
    const Index together = units_at_once(clean, device, at_once);
    const int longest = walls.is_any() ? std::min(segment_near_walls(tiles, layers, steps, together), layers) : 0;
    std::vector<int> ends;  // of the segments of tiles without walls
    int shortest = 4 * steps;
    for (const int own : moment_segments({tiles, layers, steps, together, longest, at_once > 1}).layers) {
        ends.push_back((ends.empty() ? first : ends.back()) + own);
        shortest = std::min(shortest, own);
    }
    const auto has_walls = [&](int from_x, int to_x, const Strip& strip, int from, int to) {
        const int x = from_x - steps, end_x = to_x + steps;
        return walls.is_any() &&
               (solid ? walls.has_any(x, end_x, strip.y - steps, strip.y + strip.rows + steps, from, to)
                      : walls.has_any(x, end_x, from, to, 0, 1));
    };
    // Links of the cells beside a tile are served too, those that it comes round to along a periodic axis included.
    const int around_tile = solid ? steps : walled.rows * walled.cells_per_thread;
    std::vector<MomentUnit> lists[kind_count];
    const auto add = [&](Kind kind, int x, const Strip& strip, const Run& run) {
        const MomentTiling& tiling = tilings.of(kind);
        const int own_end = address.self_periodic[0] ? x + tiling.own_x : std::min(x + tiling.own_x, address.nx);
        const int from_x = x - around_tile, end_x = own_end + around_tile;
        const int from_y = strip.y - steps, tile_end_y = strip.y + strip.rows + steps;
        const int most = kind.at_x_face ? std::max(4 * steps, longest / tiling.units_at_once) : longest;
        int z = run.first;
        for (const int cut : kind.walls ? evenly_cut(run, most) : cut_at(ends, run.first, run.end, shortest)) {
            kind.cuts =
                run.has_walls && (solid ? walls.has_cuts(from_x, end_x, from_y, tile_end_y, z - steps, cut + steps)
                                        : walls.has_cuts(from_x, end_x, z - steps, cut + steps, 0, 1));
            const auto at = std::find(std::begin(kinds), std::end(kinds), kind) - std::begin(kinds);
            lists[at].push_back({x, strip.y, strip.y + strip.rows, z, cut - z});
            z = cut;
        }
    };
    const XFaces faces = x_faces(rows, tilings, address, D, steps, walls);
    for (const int x : faces.tiles) {
        for (int y = first_y; y < end_y; y += tilings.at_x_face.own_y) {
            add({true, false, true}, x, {y, std::min(tilings.at_x_face.own_y, end_y - y)}, {first, end, true});
        }
    }
    const int width = walled.own_x;
    const auto within = [&](int x, int cells) { return faces.tiles.empty() ? x : std::min(x, faces.end - cells); };
    const Run between = between_z_faces({first, end, false}, address, D, steps, walls);
    for (const Run& run : {Run{first, between.first, true}, Run{between.end, end, true}}) {
        for (int y = first_y; y < end_y && run.first < run.end; y += walled.own_y) {
            for (int x = faces.begin; x < faces.end; x += width) {
                add({true}, within(x, width), {y, std::min(walled.own_y, end_y - y)}, run);
            }
        }
    }
    const bool is_wider = clean.own_x > width;  // a clean tile has two columns, each as wide as one with walls
    const auto is_walled = [&](int y, int strip_rows) {
        return has_walls(faces.begin, faces.end, {y, strip_rows}, between.first - steps, between.end + steps);
    };
    for (const Strip& strip : strips_of(first_y, end_y, clean.own_y, walled.own_y, is_walled)) {
        std::map<int, WalledLayers> known;
        const auto layers_of = [&](int x) -> const WalledLayers& {
            auto found = known.find(x);
            if (found == known.end()) {
                const auto in_layer = [&](int z) {
                    return has_walls(x, std::min(x + width, faces.end), strip, z, z + 1);
                };
                found =
                    known.emplace(x, WalledLayers(between.first, between.end - between.first, steps, in_layer)).first;
            }
            return found->second;
        };
        for (int x = faces.begin; x < faces.end;) {
            const int at = within(x, is_wider ? 2 * width : width);
            const bool has_two = is_wider && at + width < faces.end;
            WalledLayers own = layers_of(at);
            if (is_wider && (own.are_most() || (has_two && layers_of(at + width).are_most()))) {
                add({true}, within(x, width), strip, {between.first, between.end, true});
                x += width;
                continue;
            }
            if (has_two) {
                own.join(layers_of(at + width));
            }
            for (const Run& run : own.runs(2 * steps)) {
                add({run.has_walls}, at, strip, run);
                if (has_two && run.has_walls) {
                    add({true}, at + width, strip, run);
                }
            }
            x = at + (is_wider ? 2 * width : width);
        }
    }
    for (int k = 0; k < kind_count; ++k) {
        // Neighbouring tiles of the same layers side by side, which find the cells that both read in the cache.
        std::stable_sort(lists[k].begin(), lists[k].end(),
                         [](const MomentUnit& a, const MomentUnit& b) { return a.first < b.first; });
        lists_[k].count = int(lists[k].size());
        upload(lists_[k].units, stream, lists[k]);
    }
}

std::size_t MomentUnits::bytes() const {
    std::size_t sum = 0;
    for (const List& list : lists_) {
        sum += list.units.bytes();
    }
    return sum;
}

}  // namespace lbm::cuda
