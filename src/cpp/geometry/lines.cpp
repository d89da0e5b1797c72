// Surfaces of triangles as lattice lines see them.
#include "lines.h"

#include <stdexcept>
#include <string>

namespace lbm::geometry {

Direction::Direction(const int velocity[3]) : LineDirection{} {
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

void first_lines(const Surface& surface, const LineDirection& along, std::int32_t triangle, Index (&found)[2]) {
    const SurfaceView view = surface.view();
    Index low = INT64_MAX, high = INT64_MIN;
    for (const std::int32_t vertex : surface.mesh().triangles[std::size_t(triangle)]) {
        const Index* whole = view.whole + 3 * Index(vertex);
        const Index u = whole[along.first] - along.c[along.first] * whole[along.major];
        low = std::min(low, u);
        high = std::max(high, u);
    }
    numbers_between(low, high, line_offset(along, along.first), found);
}

}  // namespace lbm::geometry
