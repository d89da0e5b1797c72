// The temperatures that a block needs of places beyond its cells: of other blocks, through periodic faces, behind walls
// and in bodies; and those that heat through walls is read from.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "wall_terms.h"

namespace lbm::engine {

/// Heat through a wall, sample by sample.
struct WallHeat {
    std::vector<backend::HeatSample> samples;
    WallTerms values;
    std::vector<Index> places;  // of each sample: on the face, or the cell of the domain beside the body
    std::vector<double> areas;  // of each sample
};

/// Offsets are those of slot 0 (see lattice/temperature.h).
struct TemperaturePlan {
    /// The place of a temperature beyond the block's cells, which is that of a cell of a block.
    struct Copy {
        int x, y, z;
        int block;
        int from[3];  // from that block's corner
    };

    TemperaturePlan() = default;
    /// For block `own` of all blocks, which tile the domain.
    TemperaturePlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own);

    std::vector<Copy> copies;
    std::vector<backend::WallTemperature> wall_temperatures;
    WallTerms wall_terms;
    std::vector<backend::ThermalCell> thermal_cells;
    std::vector<backend::ThermalLink> thermal_links;
    WallTerms link_values;
    std::vector<WallHeat> face_heat;  // by face
    std::vector<WallHeat> body_heat;  // by body

    std::size_t bytes() const;
};

}  // namespace lbm::engine
