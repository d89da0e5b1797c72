// The links between cells that a surface cuts.
#pragma once

#include <vector>

#include "voxels.h"

namespace lbm::geometry {

/// A link from a cell that the surface cuts, at a distance from the cell's centre in links.
struct CutLink {
    std::int64_t cell;  ///< Its number in the part, z running fastest.
    std::int32_t direction;
    double q;
};

/// The links of a part's cells along velocities that the nearest cut lies on, sorted by cell and then by direction.
///
/// own: the cells inside the surface, of the part with a rim of one cell about it. taken: the cells of the part that no
/// link begins in; none does in a cell of `own`. A link to a cell of `own` that no triangle cuts gets `hidden`; a
/// distance below `least` becomes that.
std::vector<CutLink> find_links(LatticeLines& lines, const Part& part,
                                const std::vector<std::array<int, 3>>& velocities, const std::uint8_t* own,
                                const std::uint8_t* taken, double least, double hidden);

}  // namespace lbm::geometry
