// The arithmetic of where lattice lines cross the triangles of a surface, for the compilers of the host and of GPUs:
// whole numbers, and doubles of which each operation is rounded, so that all of them find the same bits.
//
// A line along a direction c with components of -1, 0 and 1 runs through centres of cells. Seen along it, corners of
// triangles and lines are points of a plane; their coordinates are rounded to 2^-28 of a cell, alike for all triangles
// that share a corner, so that the side of an edge on which a line passes is exact and edges have no gaps. A line
// through an edge or a corner is taken as if all centres were moved by (e, e^2, e^3) with an infinitely small e
// (Edelsbrunner & Muecke, ACM Trans. Graph. 9 (1990) 66). So a line crosses a closed surface as often inwards as
// outwards.
#pragma once

#include "../lattice/arithmetic.h"
#include "vec.h"

namespace lbm::geometry {

constexpr int quantum_bits = 28;
constexpr Index one_cell = Index(1) << quantum_bits;

/// A direction of lattice lines, the last of its components that is not 0 being 1.
struct LineDirection {
    int c[3];
    int major;          ///< The axis of that component.
    int first, second;  ///< The other axes.
};

/// The triangles of a surface in the memory of whoever asks.
struct SurfaceView {
    const Vec* vertices;
    const Index* whole;    ///< Three numbers of each vertex, its coordinates in units of 2^-28 of a cell.
    const int* triangles;  ///< Three vertices of each.
};

/// Lines by their numbers: cell i is on line i[first] - c[first] i[major], i[second] - c[second] i[major].
struct LineRange {
    Index first_begin, first_end, second_begin, second_end;
};

/// The cells from `low` up to, but not at, `high`.
struct CellBox {
    Index low[3], high[3];

    LBM_HD bool has(const Index (&cell)[3]) const {
        return low[0] <= cell[0] && cell[0] < high[0] && low[1] <= cell[1] && cell[1] < high[1] && low[2] <= cell[2] &&
               cell[2] < high[2];
    }
};

/// A point of the plane that lines are points of.
struct Seen {
    Index u, v;
};

template <class T>
LBM_HD T lesser(T a, T b) {
    return b < a ? b : a;
}
template <class T>
LBM_HD T greater(T a, T b) {
    return a < b ? b : a;
}

/// The whole number next below x, which is far from the largest.
LBM_HD Index floor_of(double x) {
    const auto toward_zero = Index(x);
    return double(toward_zero) > x ? toward_zero - 1 : toward_zero;
}

/// Whether a b is above (1), equal to (0) or below (-1) c d, as whole numbers of 128 bits.
LBM_HD int compare_products(Index a, Index b, Index c, Index d) {
#if defined(__CUDA_ARCH__)
    const Index left = __mul64hi(a, b), right = __mul64hi(c, d);
    if (left != right) {
        return left > right ? 1 : -1;
    }
    const UInt64 left_low = UInt64(a) * UInt64(b), right_low = UInt64(c) * UInt64(d);
    return left_low > right_low ? 1 : left_low < right_low ? -1 : 0;
#else
    const __int128 left = __int128(a) * b, right = __int128(c) * d;
    return left > right ? 1 : left < right ? -1 : 0;
#endif
}

/// The side of the edge from a to b that p is on, 1 or -1; 0 if the edge is a point.
LBM_HD int side_of(const Seen& a, const Seen& b, const Seen& p) {
    const int side = compare_products(a.u - p.u, b.v - p.v, a.v - p.v, b.u - p.u);
    if (side != 0) {
        return side;
    }
    if (a.v != b.v) {  // p on the edge is moved along u, and by far less along v
        return a.v > b.v ? 1 : -1;
    }
    return b.u > a.u ? 1 : b.u < a.u ? -1 : 0;
}

/// A triangle as lines of a direction see it.
struct SeenTriangle {
    LBM_HD SeenTriangle(const SurfaceView& surface, const LineDirection& along, int number) : major(along.major) {
        const int* vertex = surface.triangles + 3 * Index(number);
        for (int k = 0; k < 3; ++k) {
            const Index* whole = surface.whole + 3 * Index(vertex[k]);
            const Index depth = whole[major];
            corner[k] = {whole[along.first] - chosen(along.c, along.first) * depth,
                         whole[along.second] - chosen(along.c, along.second) * depth};
        }
        const Vec b = surface.vertices[vertex[1]], c = surface.vertices[vertex[2]];
        a = surface.vertices[vertex[0]];
        low = lesser(lesser(chosen(a.x, major), chosen(b.x, major)), chosen(c.x, major));
        high = greater(greater(chosen(a.x, major), chosen(b.x, major)), chosen(c.x, major));
        normal = cross(b - a, c - a);
        rise = dot(normal, {{double(along.c[0]), double(along.c[1]), double(along.c[2])}});
    }

    /// 1 where the line at p goes in through the triangle, -1 where it comes out, 0 where it does not cross it.
    LBM_HD int crossing_of(const Seen& p) const {
        const int side = side_of(corner[0], corner[1], p);
        if (side == 0 || side_of(corner[1], corner[2], p) != side || side_of(corner[2], corner[0], p) != side) {
            return 0;
        }
        // x and y with z make a right-handed system, as do y and z with x; x and z with y do not.
        return major == 1 ? side : -side;
    }

    /// The distance along the line, in links, from a point on it to the triangle that it crosses.
    LBM_HD double distance_from(const Vec& from) const {
        const double found = dot(normal, a - from) / rise, start = chosen(from.x, major);
        const double nearest = low - start, farthest = high - start;
        return found >= nearest ? lesser(found, farthest) : nearest;  // also where the triangle is seen as a line
    }

    /// Where the line crosses at a point by rounding, whether it does so behind it, as the point is moved.
    LBM_HD bool is_behind(int sign) const {
        const double least = 1e-9 * square_root(dot(normal, normal));
        for (int k = 0; k < 3; ++k) {
            if (magnitude(normal[k]) > least) {
                return (normal[k] < 0) == (sign < 0);
            }
        }
        return true;
    }

    Seen corner[3];
    Vec a, normal;
    double low, high;  ///< Coordinates along the major axis.
    double rise;       ///< Of the normal along the direction.
    int major;
};

/// A cut of a line: behind the centre of cell number `cell` along the major axis, at a distance from 0 to 1.
struct Cut {
    Index cell;
    double distance;
};

/// Distances from a centre, in links, within which a surface counts as on it.
constexpr double on_centre = 1e-9;

/// The cut of the line that passes `centre`, the centre of cell number `cell`, with a triangle that it crosses.
LBM_HD Cut cut_of(const SeenTriangle& triangle, int sign, const Vec& centre, Index cell) {
    const double distance = triangle.distance_from(centre);
    const Index nearest = floor_of(distance + 0.5);
    if (magnitude(distance - double(nearest)) <= on_centre) {
        const Index at = cell + nearest;
        return triangle.is_behind(sign) ? Cut{at, 0.0} : Cut{at - 1, 1.0};
    }
    const Index before = floor_of(distance);
    return {cell + before, distance - double(before)};
}

/// The numbers n, begin and end, for which n cells + offset lies from low to high.
LBM_HD void numbers_between(Index low, Index high, Index offset, Index (&found)[2]) {
    found[0] = (low - offset + one_cell - 1) >> quantum_bits;
    found[1] = ((high - offset) >> quantum_bits) + 1;
}

/// Where line 0 is along an axis, in whole numbers: half a cell less the shear of the centre of cell 0.
LBM_HD Index line_offset(const LineDirection& along, int axis) { return (1 - chosen(along.c, axis)) * (one_cell / 2); }

/// The lines at u, by their second numbers from `range[0]` to `range[1]`, that a triangle can cross: it is narrower
/// there than its box.
LBM_HD void narrow(const SeenTriangle& triangle, Index u, Index offset, Index (&range)[2]) {
    double low = 1e300, high = -1e300;
    for (int k = 0; k < 3; ++k) {
        const Seen a = triangle.corner[k], b = triangle.corner[(k + 1) % 3];
        if ((a.u <= u) == (b.u <= u) && a.u != u && b.u != u) {
            continue;
        }
        const double part = a.u == b.u ? 0.0 : double(u - a.u) / double(b.u - a.u);
        const double at = double(a.v) + part * double(b.v - a.v), other = a.u == b.u ? double(b.v) : at;
        low = lesser(low, lesser(at, other));
        high = greater(high, greater(at, other));
    }
    const double margin = 1e-3 + (magnitude(low) + magnitude(high)) * 1e-14 / double(one_cell);
    range[0] = greater(range[0], floor_of((low - double(offset)) / double(one_cell) - margin));
    range[1] = lesser(range[1], floor_of((high - double(offset)) / double(one_cell) + margin) + 2);
}

/// Which of the lines along the first axis a thread looks at: number `own`, and each one that is `all` further.
struct LineShare {
    Index own = 0, all = 1;
};

/// Calls body(first, second, sign, cut) for all lines of a range, or a share of them, that cross a triangle.
template <class Body>
LBM_HD void for_crossings(const SurfaceView& surface, const LineDirection& along, int number, const LineRange& range,
                          const LineShare& share, Body&& body) {
    const SeenTriangle triangle(surface, along, number);
    const Seen(&p)[3] = triangle.corner;
    const Index offset_u = line_offset(along, along.first), offset_v = line_offset(along, along.second);
    Index u[2], v[2];
    numbers_between(lesser(lesser(p[0].u, p[1].u), p[2].u), greater(greater(p[0].u, p[1].u), p[2].u), offset_u, u);
    numbers_between(lesser(lesser(p[0].v, p[1].v), p[2].v), greater(greater(p[0].v, p[1].v), p[2].v), offset_v, v);
    u[0] = greater(u[0], range.first_begin), u[1] = lesser(u[1], range.first_end);
    v[0] = greater(v[0], range.second_begin), v[1] = lesser(v[1], range.second_end);
    const Index cell = floor_of(chosen(triangle.a.x, along.major));
    for (Index i = u[0] + share.own; i < u[1]; i += share.all) {
        Seen line{(i << quantum_bits) + offset_u, 0};
        Index second[2] = {v[0], v[1]};
        if (second[1] - second[0] > 8) {
            narrow(triangle, line.u, offset_v, second);
        }
        for (Index j = second[0]; j < second[1]; ++j) {
            line.v = (j << quantum_bits) + offset_v;
            const int sign = triangle.crossing_of(line);
            if (sign != 0) {
                Vec centre;
                for (int k = 0; k < 3; ++k) {
                    const Index at = k == along.major ? cell : (k == along.first ? i : j) + along.c[k] * cell;
                    centre[k] = double(at) + 0.5;
                }
                body(i, j, sign, cut_of(triangle, sign, centre, cell));
            }
        }
    }
}

/// A cut of a link from a cell along a direction, at a distance from the cell's centre in links, from 0 to 1.
struct LineCut {
    Index cell[3];
    double distance;
};

/// The link that the cut of a line lies on.
LBM_HD LineCut on_link(const LineDirection& along, Index first, Index second, const Cut& cut) {
    LineCut found;
    for (int k = 0; k < 3; ++k) {
        found.cell[k] = k == along.major ? cut.cell : (k == along.first ? first : second) + along.c[k] * cut.cell;
    }
    found.distance = cut.distance;
    return found;
}

}  // namespace lbm::geometry
