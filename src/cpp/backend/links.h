// What a backend must do between two updates: bring every population that arrives from outside a cell's neighbours.
#pragma once

#include <vector>

#include "link_data.h"
#include "state_kind.h"

namespace lbm::backend {

/// Places differ by the phase of the step before, the rest does not.
struct LinkPlan {
    ByPhase<std::vector<CopyRun>> copies;
    ByPhase<std::vector<LinkOffsets>> wall_offsets;  // of each wall link
    std::vector<WallCell> wall_cells;
    std::vector<WallCell> late_cells;  // those with a formula that reads what has streamed in: after all copies
    std::vector<WallLink> wall_links;
    std::vector<BoundaryCell> boundary_cells;  // served after all links
    Index boundary_numbers = 0;                // that they keep
    std::vector<WallTemperature> wall_temperatures;
    std::vector<ThermalCell> thermal_cells;
    std::vector<ThermalLink> thermal_links;
    std::vector<WallColumn> wall_columns;  // filled after the copies
};

}  // namespace lbm::backend
