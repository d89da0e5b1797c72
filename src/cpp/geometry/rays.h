// Where rays meet the triangles of a surface, along any vector.
#pragma once

#include <vector>

#include "tree.h"

namespace lbm::geometry {

/// Appends the lengths from 0 to 1, in units of `step`, after which rays from p meet the surface, to `found`, in any
/// order; edges have no gaps (Woop, Benthin & Wald, J. Comput. Graph. Tech. 2 (2013) 65). Both ends are included, and
/// `margin` beyond them.
void find_meetings(const Surface& surface, const Tree& tree, const Vec& p, const Vec& step, double margin,
                   std::vector<double>& found);

/// Whether the box of a triangle is within `distance` of p.
bool is_near(const Surface& surface, const Tree& tree, const Vec& p, double distance);

}  // namespace lbm::geometry
