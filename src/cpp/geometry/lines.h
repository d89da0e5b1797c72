// Surfaces of triangles as lattice lines see them, on the host; crossings.h has the arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "clean.h"
#include "crossings.h"
#include "vectors.h"

namespace lbm::geometry {

/// Of coordinates, in cells; products of differences then fit 128 bits.
constexpr double max_coordinate = 2147483648.0;

/// A direction by a velocity that points along it or against it; throws std::invalid_argument for one of 0.
struct Direction : LineDirection {
    explicit Direction(const int velocity[3]);
};

/// A part of the cells: those with numbers from `offset` on, `size` along each axis.
struct Part {
    std::int64_t offset[3], size[3];

    std::int64_t cells() const { return size[0] * size[1] * size[2]; }
};

/// A surface whose corners have whole numbers beside their coordinates.
class Surface {
public:
    /// Throws std::invalid_argument for a coordinate beyond `max_coordinate`.
    Surface(Mesh mesh, Closure closure);

    const Mesh& mesh() const { return mesh_; }
    Closure closure() const { return closure_; }
    const Bounds& bounds() const { return bounds_; }
    const Vec& corner(std::int32_t triangle, int k) const {
        return mesh_.vertices[std::size_t(mesh_.triangles[std::size_t(triangle)][std::size_t(k)])];
    }
    SurfaceView view() const {
        static_assert(sizeof(Triangle) == 3 * sizeof(int));
        return {mesh_.vertices.data(), whole_.data(),
                mesh_.triangles.empty() ? nullptr : mesh_.triangles.front().data()};
    }

private:
    Mesh mesh_;
    Closure closure_;
    Bounds bounds_;
    std::vector<Index> whole_;
};

/// Calls body(first, second, sign, cut) for all lines of a range that cross a triangle.
template <class Body>
void for_crossings(const Surface& surface, const LineDirection& along, std::int32_t number, const LineRange& range,
                   Body&& body) {
    for_crossings(surface.view(), along, number, range, LineShare{}, body);
}

/// The numbers of the lines along `first` that a triangle can cross; begin and end.
void first_lines(const Surface& surface, const LineDirection& along, std::int32_t triangle, Index (&found)[2]);

}  // namespace lbm::geometry
