// The loop over the lines that cross a triangle; included by lines.h.
#pragma once

#include "lines.h"

namespace lbm::geometry {

/// The numbers n, begin and end, for which n cells + offset lies from low to high.
inline void numbers_between(std::int64_t low, std::int64_t high, std::int64_t offset, std::int64_t found[2]) {
    found[0] = (low - offset + one_cell - 1) >> quantum_bits;
    found[1] = ((high - offset) >> quantum_bits) + 1;
}

/// Where line 0 is along an axis, in whole numbers: half a cell less the shear of the centre of cell 0.
inline std::int64_t line_offset(const Direction& along, int axis) { return (1 - along.c[axis]) * (one_cell / 2); }

template <class Body>
void for_crossings(const Surface& surface, const Direction& along, std::int32_t number, const LineRange& range,
                   Body&& body) {
    const SeenTriangle triangle(surface, along, number);
    const Seen* p = triangle.corner;
    const std::int64_t offset_u = line_offset(along, along.first), offset_v = line_offset(along, along.second);
    std::int64_t u[2], v[2];
    numbers_between(std::min({p[0].u, p[1].u, p[2].u}), std::max({p[0].u, p[1].u, p[2].u}), offset_u, u);
    numbers_between(std::min({p[0].v, p[1].v, p[2].v}), std::max({p[0].v, p[1].v, p[2].v}), offset_v, v);
    u[0] = std::max(u[0], range.first_begin), u[1] = std::min(u[1], range.first_end);
    v[0] = std::max(v[0], range.second_begin), v[1] = std::min(v[1], range.second_end);
    const auto cell = std::int64_t(std::floor(triangle.a[along.major]));
    for (std::int64_t i = u[0]; i < u[1]; ++i) {
        Seen line{(i << quantum_bits) + offset_u, 0};
        std::int64_t begin = v[0], end = v[1];
        if (end - begin > 8) {  // the triangle is narrower here than its box
            double low = INFINITY, high = -INFINITY;
            for (int k = 0; k < 3; ++k) {
                const Seen &a = p[k], &b = p[(k + 1) % 3];
                if ((a.u <= line.u) == (b.u <= line.u) && a.u != line.u && b.u != line.u) {
                    continue;
                }
                const double part = a.u == b.u ? 0.0 : double(line.u - a.u) / double(b.u - a.u);
                const double at = double(a.v) + part * double(b.v - a.v);
                low = std::min({low, at, a.u == b.u ? double(b.v) : at});
                high = std::max({high, at, a.u == b.u ? double(b.v) : at});
            }
            const double margin = 1e-3 + (std::abs(low) + std::abs(high)) * 1e-14 / double(one_cell);
            begin = std::max(begin, std::int64_t(std::floor((low - double(offset_v)) / double(one_cell) - margin)));
            end = std::min(end, std::int64_t(std::ceil((high - double(offset_v)) / double(one_cell) + margin)) + 1);
        }
        for (std::int64_t j = begin; j < end; ++j) {
            line.v = (j << quantum_bits) + offset_v;
            const int sign = triangle.crossing_of(line);
            if (sign != 0) {
                Vec centre;
                centre[along.major] = double(cell) + 0.5;
                centre[along.first] = double(i + along.c[along.first] * cell) + 0.5;
                centre[along.second] = double(j + along.c[along.second] * cell) + 0.5;
                body(i, j, sign, cut_of(triangle, sign, centre, cell));
            }
        }
    }
}

}  // namespace lbm::geometry
