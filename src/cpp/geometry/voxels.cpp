// Which cells of a part have their centres inside a surface.
#include "voxels.h"

#include <cstring>

#include "parallel.h"
#include "slabs.h"

namespace lbm::geometry {
namespace {

constexpr int axis_velocities[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/// What lines along three axes say of a cell of an open surface: a bit for each that finds it inside.
constexpr std::uint8_t all_axes = 7, in_doubt = 8;

/// The cells of an open surface. Where all of the lines along three axes through a cell go in as often as they come
/// out, and agree on the cell, they decide; else its winding number.
void find_open(const Surface& surface, const Tree& tree, const Part& part, std::uint8_t* solid, int threads) {
    const std::int64_t strides[3] = {part.size[1] * part.size[2], part.size[2], 1};
    for (int axis = 0; axis < 3; ++axis) {
        const Direction along(axis_velocities[axis]);
        const Slabs slabs(surface, along, lines_of(part, along));
        for_pieces(slabs.count(), threads, [&](long slab) {
            for_lines(surface, along, slabs, slab,
                      [&](Index first, Index second, const Crossing* crossing, const Crossing* last) {
                          std::uint8_t* line = solid + (first - part.offset[along.first]) * strides[along.first] +
                                               (second - part.offset[along.second]) * strides[along.second];
                          const std::int64_t stride = strides[axis], size = part.size[axis];
                          std::int64_t wound = 0;
                          for (const Crossing* one = crossing; one != last; ++one) {
                              wound += one->sign;
                          }
                          if (wound != 0) {
                              for (std::int64_t k = 0; k < size; ++k) {
                                  line[k * stride] |= in_doubt;
                              }
                          }
                          for_runs(crossing, last, Closure::Open, part.offset[axis], size, [&](Index begin, Index end) {
                              for (std::int64_t k = begin; k < end; ++k) {
                                  line[k * stride] |= std::uint8_t(1 << axis);
                              }
                          });
                      });
        });
    }
    for_pieces(part.size[0] * part.size[1], threads, [&](long row) {
        std::uint8_t* line = solid + row * part.size[2];
        for (std::int64_t k = 0; k < part.size[2]; ++k) {
            if (line[k] != 0 && line[k] != all_axes) {
                const std::int64_t x = part.offset[0] + row / part.size[1];
                const Vec centre{{double(x) + 0.5, double(part.offset[1] + row % part.size[1]) + 0.5,
                                  double(part.offset[2] + k) + 0.5}};
                line[k] = tree.is_wound_about(centre);
            } else {
                line[k] = line[k] == all_axes;
            }
        }
    });
}

/// The part of a box of cells that a surface can fill; empty if it lies outside.
Part overlap(const Surface& surface, const Part& part) {
    Part found{};
    const Bounds& bounds = surface.bounds();
    for (int k = 0; k < 3; ++k) {
        const double low = std::floor(bounds.low[k]) - 1, high = std::ceil(bounds.high[k]) + 1;
        const double begin = std::max(low, double(part.offset[k]));
        const double end = std::min(high, double(part.offset[k] + part.size[k]));
        if (!(begin < end)) {
            return Part{};
        }
        found.offset[k] = std::int64_t(begin);
        found.size[k] = std::int64_t(end) - found.offset[k];
    }
    return found;
}

}  // namespace

void find_solid(LatticeLines& lines, const Tree* tree, const Part& part, std::uint8_t* solid) {
    const Surface& surface = lines.surface();
    const std::int64_t layer = part.size[1] * part.size[2];
    for_pieces(part.size[0], lines.threads(), [&](long x) { std::memset(solid + x * layer, 0, std::size_t(layer)); });
    const Part inner = overlap(surface, part);
    if (inner.cells() == 0) {
        return;
    }
    if (surface.closure() != Closure::Open) {
        lines.fill(inner, part, solid);
        return;
    }
    std::vector<std::uint8_t> found(std::size_t(inner.cells()), 0);
    find_open(surface, *tree, inner, found.data(), lines.threads());
    for (std::int64_t row = 0; row < inner.size[0] * inner.size[1]; ++row) {
        const std::int64_t x = row / inner.size[1] + inner.offset[0] - part.offset[0];
        const std::int64_t y = row % inner.size[1] + inner.offset[1] - part.offset[1];
        std::memcpy(solid + (x * part.size[1] + y) * part.size[2] + inner.offset[2] - part.offset[2],
                    &found[std::size_t(row * inner.size[2])], std::size_t(inner.size[2]));
    }
}

void find_solid(const Surface& surface, const Tree* tree, const Part& part, std::uint8_t* solid, int threads) {
    HostLines lines(surface, threads);
    find_solid(lines, tree, part, solid);
}

bool is_inside(const Surface& surface, const Tree& tree, const Vec& p) {
    const bool is_open = surface.closure() == Closure::Open;
    int votes = 0;
    for (int axis = is_open ? 0 : 2; axis < 3; ++axis) {
        const Direction along(axis_velocities[axis]);
        const Seen line{std::llrint(p[along.first] * double(one_cell)),
                        std::llrint(p[along.second] * double(one_cell))};
        std::int64_t wound = 0, crossings = 0, all = 0;
        tree.visit(
            [&](const Bounds& box) {
                constexpr double margin = 1e-6;
                return box.low[along.first] - margin <= p[along.first] &&
                       p[along.first] <= box.high[along.first] + margin &&
                       box.low[along.second] - margin <= p[along.second] &&
                       p[along.second] <= box.high[along.second] + margin;
            },
            [&](std::int32_t number) {
                const SeenTriangle triangle(surface.view(), along, number);
                const int sign = triangle.crossing_of(line);
                if (sign != 0) {
                    all += sign;
                    if (cut_of(triangle, sign, p, 0).cell < 0) {
                        wound += sign;
                        ++crossings;
                    }
                }
            });
        if (!is_open) {
            return is_filled(surface.closure(), wound, crossings);
        }
        if (all != 0) {
            return tree.is_wound_about(p);
        }
        votes += wound != 0;
    }
    return votes == 0 ? false : votes == 3 ? true : tree.is_wound_about(p);
}

}  // namespace lbm::geometry
