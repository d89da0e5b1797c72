// Divides a block whose state is moments into units, and finds those with walls.
#include "moment_units.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "moment_segments.h"
#include "upload.h"

namespace lbm::cuda {
namespace {

/// The layers of a segment of a tile with walls, which take unlike times: so that the layers that are swept and not
/// stored, 2 `steps` a segment, cost as much as half a segment at the end, when most thread blocks are done.
int segment_near_walls(Index tiles, int layers, int steps, Index at_once) {
    const double best = std::sqrt(4.0 * steps * double(layers) * double(tiles) / double(at_once));
    return std::max(4 * steps, int(best));
}

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

    bool operator==(const Strip&) const = default;
};

/// Divides rows into strips, of `own` rows where there are no walls, and of `walled` rows, no more than these, where
/// tiles with walls have some of them: is_walled(y, rows). The last one with walls ends with the rows, so that it is no
/// sliver, in which the one before it would have walls too.
template <class IsWalled>
std::vector<Strip> strips_of(const Strip& all, int own, int walled, const IsWalled& is_walled) {
    std::vector<Strip> found;
    int stop = all.y + all.rows;
    if (all.rows > walled && is_walled(stop - walled, walled)) {
        stop -= walled;
        found.push_back({stop, walled});
    }
    for (int y = all.y; y < stop; y += found.back().rows) {
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
               const MomentWallMap& walls) {
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
Run between_z_faces(const Run& all, const Address& address, int D, int steps, const MomentWallMap& walls) {
    Run found = all;
    if (D == 3) {
        found.first += all.first == 0 && walls.has_face(2, 0) ? steps + 1 : 0;
        found.end -= all.end == address.nz && walls.has_face(2, 1) ? steps + 1 : 0;
    }
    return found.end - found.first < 8 * steps ? all : found;
}

/// The rows of all these that lie between tiles at faces across y with walls or free slip.
Strip between_y_faces(const Strip& all, const MomentTilings& tilings, const Address& address,
                      const MomentWallMap& walls) {
    const int own = tilings.at_y_face.own_y;
    if (own == 0 || all.rows < 2 * own + tilings.clean.own_y) {
        return all;
    }
    const int before = all.y == 0 && walls.has_face(1, 0) ? own : 0;
    const int behind = all.y + all.rows == address.ny && walls.has_face(1, 1) ? own : 0;
    return {all.y + before, all.rows - before - behind};
}

/// Divides the rows of a box into units, lists of each kind.
class Division {
public:
    Division(const backend::RowBox& rows, const MomentTilings& tilings, const Address& address, int D, int steps,
             const DeviceInfo& device, const MomentWallMap& walls, int at_once)
        : tilings_(tilings),
          address_(address),
          walls_(walls),
          has_planes_(D == 3),
          steps_(steps),
          first_(has_planes_ ? rows.z : rows.y),
          end_(first_ + (has_planes_ ? rows.nz : rows.ny)),
          first_y_(has_planes_ ? rows.y : 0),
          end_y_(has_planes_ ? rows.y + rows.ny : 1),
          faces_(x_faces(rows, tilings, address, D, steps, walls)),
          between_(between_z_faces({first_, end_, false}, address, D, steps, walls)),
          between_y_(between_y_faces({first_y_, end_y_ - first_y_}, tilings, address, walls)) {
        const MomentTiling& clean = tilings.clean;
        const Index tiles = clean.count(address.nx, end_y_ - first_y_), together = clean.at_once(device, at_once);
        const int layers = end_ - first_;
        longest_ = walls.is_any() ? std::min(segment_near_walls(tiles, layers, steps, together), layers) : 0;
        shortest_ = 4 * steps;
        for (const int own : moment_segments({tiles, layers, steps, together, longest_, at_once > 1}).layers) {
            ends_.push_back((ends_.empty() ? first_ : ends_.back()) + own);
            shortest_ = std::min(shortest_, own);
        }
    }

    MomentUnits::Lists lists() {
        add_at_x_faces();
        add_at_z_faces();
        add_at_y_faces();
        add_between();
        for (std::vector<MomentUnit>& list : lists_) {
            // Neighbouring tiles of the same layers side by side, which find the cells that both read in the cache.
            std::sort(list.begin(), list.end(), [](const MomentUnit& a, const MomentUnit& b) {
                return std::tie(a.first, a.y, a.x) < std::tie(b.first, b.y, b.x);
            });
        }
        return std::move(lists_);
    }

private:
    /// Whether a cell that a tile reads in these layers has walls.
    bool has_walls(int from_x, int to_x, const Strip& strip, int from, int to) const {
        const int x = from_x - steps_, end_x = to_x + steps_;
        return has_planes_ ? walls_.has_any(x, end_x, strip.y - steps_, strip.y + strip.rows + steps_, from, to)
                           : walls_.has_any(x, end_x, from, to, 0, 1);
    }
    /// Whether one has walls that are not half-way to solid cells, of all whose links are served with those of the
    /// tile: those that it comes round to along a periodic axis too.
    bool has_cuts(const MomentTiling& tiling, int x, const Strip& strip, int from, int to) const {
        const int around = has_planes_ ? steps_ : tilings_.walled.rows * tilings_.walled.cells_per_thread;
        const int end_x = address_.self_periodic[0] ? x + tiling.own_x : std::min(x + tiling.own_x, address_.nx);
        return has_planes_ ? walls_.has_cuts(x - around, end_x + around, strip.y - steps_,
                                             strip.y + strip.rows + steps_, from - steps_, to + steps_)
                           : walls_.has_cuts(x - around, end_x + around, from - steps_, to + steps_, 0, 1);
    }
    /// Whether all that a tile stores of a layer is solid.
    bool is_solid(const MomentTiling& tiling, int x, const Strip& strip, int layer) const {
        const int end_x = std::min(x + tiling.own_x, address_.nx);
        return has_planes_ ? walls_.is_solid(x, end_x, strip.y, strip.y + strip.rows, layer)
                           : walls_.is_solid(x, end_x, layer, layer + 1, 0);
    }
    /// Adds a tile's layers but for runs of solid ones, whose numbers nothing uses: updates clear the populations of
    /// solid cells, and readers give what is known of these. Few such layers stay with the others, as two runs sweep 2
    /// `steps` layers more than one.
    void add(MomentUnitKind kind, int x, const Strip& strip, const Run& run) {
        int first = run.first;
        for (int z = run.first; kind.walls && z < run.end;) {
            int next = z;
            while (next < run.end && is_solid(tilings_.of(kind), x, strip, next)) {
                ++next;
            }
            const bool ends_run = z == first || next == run.end;  // so that no run is cut in two
            if (next - z > (ends_run ? 0 : 2 * steps_)) {
                add_segments(kind, x, strip, {first, z, true});
                first = next;
            }
            z = std::max(next, z + 1);
        }
        add_segments(kind, x, strip, {first, run.end, run.has_walls});
    }
    void add_segments(MomentUnitKind kind, int x, const Strip& strip, const Run& run) {
        if (run.first == run.end) {
            return;
        }
        const MomentTiling& tiling = tilings_.of(kind);
        const bool at_face = kind.face != MomentFace::None;
        const int most = at_face ? std::max(4 * steps_, longest_ / tiling.units_at_once) : longest_;
        int z = run.first;
        for (const int cut : kind.walls ? evenly_cut(run, most) : cut_at(ends_, run.first, run.end, shortest_)) {
            kind.cuts = kind.walls && has_cuts(tiling, x, strip, z, cut);
            const auto* const at = std::find(std::begin(MomentUnits::kinds), std::end(MomentUnits::kinds), kind);
            lists_[std::size_t(at - std::begin(MomentUnits::kinds))].push_back(
                {x, strip.y, strip.y + strip.rows, z, cut - z});
            z = cut;
        }
    }
    /// The tile at `x`, or where it would reach into that of the upper face along x one that ends there.
    int within(int x, int cells) const { return faces_.end < address_.nx ? std::min(x, faces_.end - cells) : x; }

    void add_at_x_faces() {
        const int rows = tilings_.at_x_face.own_y;
        for (const int x : faces_.tiles) {
            for (int y = first_y_; y < end_y_; y += rows) {
                add({true, false, MomentFace::X}, x, {y, std::min(rows, end_y_ - y)}, {first_, end_, true});
            }
        }
    }
    void add_at_z_faces() {
        const int width = tilings_.walled.own_x, rows = tilings_.walled.own_y;
        for (const Run& run : {Run{first_, between_.first, true}, Run{between_.end, end_, true}}) {
            for (int y = first_y_; y < end_y_ && run.first < run.end; y += rows) {
                for (int x = faces_.begin; x < faces_.end; x += width) {
                    add({true}, within(x, width), {y, std::min(rows, end_y_ - y)}, run);
                }
            }
        }
    }
    void add_at_y_faces() {
        const int width = tilings_.at_y_face.own_x, end_between_y = between_y_.y + between_y_.rows;
        for (const Strip& strip :
             {Strip{first_y_, between_y_.y - first_y_}, Strip{end_between_y, end_y_ - end_between_y}}) {
            for (int x = faces_.begin; x < faces_.end && strip.rows > 0; x += width) {
                add({true, false, MomentFace::Y}, within(x, width), strip, between_);
            }
        }
    }
    /// Columns as wide as a tile have strips of their own, so that those beside a body are as high as they may be.
    void add_between() {
        const int width = tilings_.clean.own_x;
        std::vector<Strip> strips;
        int begin = faces_.begin;
        for (int x = begin; x < faces_.end; x += width) {
            const std::vector<Strip> own = strips_at(within(x, width), std::min(x + width, faces_.end));
            if (x > begin && own != strips) {
                add_strips(strips, begin, x);
                begin = x;
            }
            strips = own;
        }
        add_strips(strips, begin, faces_.end);
    }
    std::vector<Strip> strips_at(int from_x, int to_x) const {
        const auto is_walled = [&](int y, int rows) {
            return has_walls(from_x, to_x, {y, rows}, between_.first - steps_, between_.end + steps_);
        };
        const int walled_rows = tilings_.walled.rows == 0 ? 1 : tilings_.walled.own_y;
        return strips_of(between_y_, tilings_.clean.own_y, walled_rows, is_walled);
    }
    void add_strips(const std::vector<Strip>& strips, int from_x, int to_x) {
        for (const Strip& strip : strips) {
            add_strip(strip, from_x, to_x);
        }
    }
    /// Adds the tiles of a strip: one without walls has one or two columns, each as wide as a tile with walls.
    void add_strip(const Strip& strip, int from_x, int to_x) {
        const int clean = tilings_.clean.own_x, width = tilings_.walled.rows == 0 ? clean : tilings_.walled.own_x;
        const bool is_wider = clean > width;
        std::map<int, WalledLayers> known;
        const auto layers_of = [&](int x) -> const WalledLayers& {
            auto found = known.find(x);
            if (found == known.end()) {
                const auto in_layer = [&](int z) {
                    return has_walls(x, std::min(x + width, faces_.end), strip, z, z + 1);
                };
                const WalledLayers layers(between_.first, between_.end - between_.first, steps_, in_layer);
                found = known.emplace(x, layers).first;
            }
            return found->second;
        };
        for (int x = from_x; x < to_x;) {
            const int at = within(x, is_wider ? 2 * width : width);
            const bool has_two = is_wider && at + width < faces_.end;
            WalledLayers own = layers_of(at);
            if (is_wider && (own.are_most() || (has_two && layers_of(at + width).are_most()))) {
                add({true}, within(x, width), strip, {between_.first, between_.end, true});
                x += width;
                continue;
            }
            if (has_two) {
                own.join(layers_of(at + width));
            }
            for (const Run& run : own.runs(2 * steps_)) {
                add({run.has_walls}, at, strip, run);
                if (has_two && run.has_walls && at + width < to_x) {  // else those behind have it
                    add({true}, at + width, strip, run);
                }
            }
            x = at + (is_wider ? 2 * width : width);
        }
    }

    const MomentTilings& tilings_;
    const Address& address_;
    const MomentWallMap& walls_;
    const bool has_planes_;  // layers of rows, in three dimensions, and not rows
    const int steps_;
    const int first_, end_, first_y_, end_y_;  // layers along the last axis, and rows of each
    const XFaces faces_;
    const Run between_;      // layers between those at faces across the last axis
    const Strip between_y_;  // rows between tiles at faces across y
    std::vector<int> ends_;  // of the segments of tiles without walls
    int shortest_, longest_;
    MomentUnits::Lists lists_;
};

}  // namespace

MomentUnits::Lists MomentUnits::divided(const backend::RowBox& rows, const MomentTilings& tilings,
                                        const Address& address, int D, int steps, const DeviceInfo& device,
                                        const MomentWallMap& walls, int at_once) {
    return Division(rows, tilings, address, D, steps, device, walls, at_once).lists();
}

MomentUnits::MomentUnits(const Lists& lists, const WorkStream& stream) {
    for (std::size_t k = 0; k < lists.size(); ++k) {
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
