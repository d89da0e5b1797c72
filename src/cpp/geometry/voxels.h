// Which cells of a part have their centres inside a surface.
#pragma once

#include <cstdint>

#include "lattice_lines.h"
#include "tree.h"

namespace lbm::geometry {

/// Sets solid[(x size[1] + y) size[2] + z] to 1 in cells whose centres are inside, else to 0. What a cell gets depends
/// on its centre and the surface only. Of an open surface, which has the tree, threads of the host find it, whoever
/// follows lines; no other one is asked for a tree.
void find_solid(LatticeLines& lines, const Tree* tree, const Part& part, std::uint8_t* solid);

/// The same by threads of the host alone.
void find_solid(const Surface& surface, const Tree* tree, const Part& part, std::uint8_t* solid, int threads);

/// Whether a point is inside, by the rule that cells are.
bool is_inside(const Surface& surface, const Tree& tree, const Vec& p);

}  // namespace lbm::geometry
