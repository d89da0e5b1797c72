// Where lattice lines cross the triangles of a surface: which lines do is decided in whole numbers.
//
// A line along a direction c with components of -1, 0 and 1 runs through centres of cells. Seen along it, corners of
// triangles and lines are points of a plane; their coordinates are rounded to 2^-28 of a cell, alike for all triangles
// that share a corner, so that the side of an edge on which a line passes is exact and edges have no gaps. A line
// through an edge or a corner is taken as if all centres were moved by (e, e^2, e^3) with an infinitely small e
// (Edelsbrunner & Muecke, ACM Trans. Graph. 9 (1990) 66). So a line crosses a closed surface as often inwards as
// outwards.
#pragma once

#include <cstdint>
#include <vector>

#include "clean.h"
#include "vectors.h"

namespace lbm::geometry {

constexpr int quantum_bits = 28;
constexpr std::int64_t one_cell = std::int64_t(1) << quantum_bits;
/// Of coordinates, in cells; products of differences then fit 128 bits.
constexpr double max_coordinate = 2147483648.0;

/// A direction of lattice lines, the last of its components that is not 0 being 1.
struct Direction {
    explicit Direction(const int velocity[3]);

    int c[3];
    int major;          ///< The axis of that component.
    int first, second;  ///< The other axes.
};

/// A surface whose corners have whole numbers beside their coordinates.
class Surface {
public:
    /// Throws std::invalid_argument for a coordinate beyond `max_coordinate`.
    Surface(Mesh mesh, Closure closure);

    const Mesh& mesh() const { return mesh_; }
    Closure closure() const { return closure_; }
    const Bounds& bounds() const { return bounds_; }
    const std::int64_t* whole(std::int32_t vertex) const { return &whole_[3 * std::size_t(vertex)]; }
    const Vec& corner(std::int32_t triangle, int k) const {
        return mesh_.vertices[std::size_t(mesh_.triangles[std::size_t(triangle)][std::size_t(k)])];
    }

private:
    Mesh mesh_;
    Closure closure_;
    Bounds bounds_;
    std::vector<std::int64_t> whole_;
};

/// A point of the plane that lines are points of.
struct Seen {
    std::int64_t u, v;
};

/// A triangle as lines of a direction see it.
struct SeenTriangle {
    SeenTriangle(const Surface& surface, const Direction& along, std::int32_t number);

    /// 1 where the line at p goes in through the triangle, -1 where it comes out, 0 where it does not cross it.
    int crossing_of(const Seen& p) const;

    /// The distance along the line, in links, from a point on it to the triangle that it crosses.
    double distance_from(const Vec& from) const;

    /// Where the line crosses at a point by rounding, whether it does so behind it, as the point is moved.
    bool is_behind(int sign) const;

    Seen corner[3];
    Vec a, normal;
    double low, high;  ///< Coordinates along the major axis.
    double rise;       ///< Of the normal along the direction.
    int major;
};

/// A cut of a line: behind the centre of cell number `cell` along the major axis, at a distance from 0 to 1.
struct Cut {
    std::int64_t cell;
    double distance;
};

/// The cut of the line that passes `centre`, the centre of cell number `cell`, with a triangle that it crosses.
Cut cut_of(const SeenTriangle& triangle, int sign, const Vec& centre, std::int64_t cell);

/// Distances from a centre, in links, within which a surface counts as on it.
constexpr double on_centre = 1e-9;

/// Lines by their numbers: cell i is on line i[first] - c[first] i[major], i[second] - c[second] i[major].
struct LineRange {
    std::int64_t first_begin, first_end, second_begin, second_end;
};

/// Calls body(first, second, sign, cut) for all lines of a range that cross a triangle.
template <class Body>
void for_crossings(const Surface& surface, const Direction& along, std::int32_t number, const LineRange& range,
                   Body&& body);

/// The numbers of the lines along `first` that a triangle can cross; begin and end.
void first_lines(const Surface& surface, const Direction& along, std::int32_t triangle, std::int64_t found[2]);

}  // namespace lbm::geometry

#include "lines_inline.h"
