// The temperatures that a block of the hybrid thermal model needs beyond its cells - of other blocks, through periodic
// faces, behind walls and in bodies - and those that the heat through walls is computed from.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "wall_terms.h"

namespace lbm::engine {

/// The heat through a wall as a list of samples, one for each wall cell of a face, one or more for each link of a body.
struct WallHeat {
    std::vector<backend::HeatSample> samples;
    WallTerms values;           // of each sample: the part that depends on wall temperatures
    std::vector<Index> places;  // of each sample: index on the face, or of the fluid cell next to the body
    std::vector<double> areas;  // of each sample; of a link's samples after the first 0
};

/// Offsets are those of temperature slot 0 (see lattice/temperature.h).
struct TemperaturePlan {
    /// A temperature beyond the block's cells that equals that of a cell of this or another block.
    struct Copy {
        int x, y, z;
        int block;
        int from[3];  // relative to that block's corner
    };

    TemperaturePlan() = default;
    /// The plan of block `own`; `blocks` are all blocks, which tile the domain.
    TemperaturePlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own,
                    PlanOf part = PlanOf::Block);

    std::vector<Copy> copies;
    std::vector<backend::WallTemperature> wall_temperatures;
    WallTerms wall_terms;
    std::vector<backend::ThermalCell> thermal_cells;
    std::vector<backend::ThermalLink> thermal_links;
    std::vector<backend::ThermalTerm> thermal_terms;
    WallTerms link_values;
    std::vector<WallHeat> face_heat;  // by face
    std::vector<WallHeat> body_heat;  // by body

    std::size_t bytes() const;
};

}  // namespace lbm::engine
