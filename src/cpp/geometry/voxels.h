// Which cells of a part have their centres inside a surface.
#pragma once

#include <cstdint>

#include "lines.h"
#include "tree.h"

namespace lbm::geometry {

/// A part of the cells: those with numbers from `offset` on, `size` along each axis.
struct Part {
    std::int64_t offset[3], size[3];

    std::int64_t cells() const { return size[0] * size[1] * size[2]; }
};

/// Sets solid[(x size[1] + y) size[2] + z] to 1 in cells whose centres are inside, else to 0. What a cell gets depends
/// on its centre and the surface only. The tree is of an open surface and not asked for else.
void find_solid(const Surface& surface, const Tree* tree, const Part& part, std::uint8_t* solid, int threads);

/// Whether a point is inside, by the rule that cells are.
bool is_inside(const Surface& surface, const Tree& tree, const Vec& p);

/// Triangles by the lines that may cross them: of slab k those that lines with first numbers from begin + k lines_each
/// on may cross.
struct Slabs {
    Slabs(const Surface& surface, const Direction& along, const LineRange& lines);

    long count() const { return long(start.size()) - 1; }
    LineRange lines_of(long slab) const;

    LineRange range;
    std::int64_t lines_each;
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> triangles;
};

}  // namespace lbm::geometry
