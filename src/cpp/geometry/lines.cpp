// Where lattice lines cross the triangles of a surface.
#include "lines.h"

#include <stdexcept>

namespace lbm::geometry {
namespace {

/// The side of the edge from a to b that p is on, 1 or -1; 0 if the edge is a point.
int side_of(const Seen& a, const Seen& b, const Seen& p) {
    const __int128 left = __int128(a.u - p.u) * (b.v - p.v), right = __int128(a.v - p.v) * (b.u - p.u);
    if (left != right) {
        return left > right ? 1 : -1;
    }
    if (a.v != b.v) {  // p on the edge is moved along u, and by far less along v
        return a.v > b.v ? 1 : -1;
    }
    return b.u > a.u ? 1 : b.u < a.u ? -1 : 0;
}

}  // namespace

Direction::Direction(const int velocity[3]) {
    major = velocity[2] != 0 ? 2 : velocity[1] != 0 ? 1 : 0;
    if (velocity[major] == 0) {
        throw std::invalid_argument("a velocity of 0 has no lines");
    }
    for (int k = 0; k < 3; ++k) {
        c[k] = velocity[major] * velocity[k];
    }
    first = major == 0 ? 1 : 0;
    second = major == 2 ? 1 : 2;
}

Surface::Surface(Mesh mesh, Closure closure) : mesh_(std::move(mesh)), closure_(closure) {
    whole_.resize(3 * mesh_.vertices.size());
    for (std::size_t i = 0; i < mesh_.vertices.size(); ++i) {
        for (int k = 0; k < 3; ++k) {
            const double value = mesh_.vertices[i][k];
            if (!(std::abs(value) <= max_coordinate)) {
                throw std::invalid_argument("vertices: a coordinate of " + std::to_string(value) +
                                            " cells given, must be at most 2^31; scale or fit the mesh");
            }
            whole_[3 * i + std::size_t(k)] = std::llrint(value * double(one_cell));
        }
        bounds_.add(mesh_.vertices[i]);
    }
}

SeenTriangle::SeenTriangle(const Surface& surface, const Direction& along, std::int32_t number) : major(along.major) {
    const Triangle& t = surface.mesh().triangles[std::size_t(number)];
    low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 3; ++k) {
        const std::int64_t* whole = surface.whole(t[std::size_t(k)]);
        corner[k] = {whole[along.first] - along.c[along.first] * whole[along.major],
                     whole[along.second] - along.c[along.second] * whole[along.major]};
        low = std::min(low, surface.corner(number, k)[major]);
        high = std::max(high, surface.corner(number, k)[major]);
    }
    a = surface.corner(number, 0);
    normal = cross(surface.corner(number, 1) - a, surface.corner(number, 2) - a);
    rise = dot(normal, {{double(along.c[0]), double(along.c[1]), double(along.c[2])}});
}

int SeenTriangle::crossing_of(const Seen& p) const {
    const int side = side_of(corner[0], corner[1], p);
    if (side == 0 || side_of(corner[1], corner[2], p) != side || side_of(corner[2], corner[0], p) != side) {
        return 0;
    }
    // x and y with z make a right-handed system, as do y and z with x; x and z with y do not.
    return major == 1 ? side : -side;
}

double SeenTriangle::distance_from(const Vec& from) const {
    const double found = dot(normal, a - from) / rise;
    const double nearest = low - from[major], farthest = high - from[major];
    return found >= nearest ? std::min(found, farthest) : nearest;  // also where the triangle is seen as a line
}

bool SeenTriangle::is_behind(int sign) const {
    const double least = 1e-9 * length(normal);
    for (int k = 0; k < 3; ++k) {
        if (std::abs(normal[k]) > least) {
            return (normal[k] < 0) == (sign < 0);
        }
    }
    return true;
}

Cut cut_of(const SeenTriangle& triangle, int sign, const Vec& centre, std::int64_t cell) {
    const double distance = triangle.distance_from(centre);
    const double nearest = std::nearbyint(distance);
    if (std::abs(distance - nearest) <= on_centre) {
        const std::int64_t at = cell + std::int64_t(nearest);
        return triangle.is_behind(sign) ? Cut{at, 0.0} : Cut{at - 1, 1.0};
    }
    const double before = std::floor(distance);
    return {cell + std::int64_t(before), distance - before};
}

void first_lines(const Surface& surface, const Direction& along, std::int32_t triangle, std::int64_t found[2]) {
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    for (const std::int32_t vertex : surface.mesh().triangles[std::size_t(triangle)]) {
        const std::int64_t* whole = surface.whole(vertex);
        const std::int64_t u = whole[along.first] - along.c[along.first] * whole[along.major];
        low = std::min(low, u);
        high = std::max(high, u);
    }
    numbers_between(low, high, line_offset(along, along.first), found);
}

}  // namespace lbm::geometry
