// A block's part of the boundary-and-halo plan: how the backend supplies, between two updates, all incoming populations
// that do not stream from a fluid cell of the block.
#pragma once

#include <algorithm>
#include <vector>

#include "link_data.h"
#include "state_kind.h"

namespace lbm::backend {

/// The number of cells before a wall where there is none.
constexpr int no_wall = 1 << 30;

/// The lists of the plan. Offsets of populations depend on the phase of the last step, the rest does not.
struct LinkPlan {
    ByPhase<std::vector<CopyRun>> copies;
    ByPhase<std::vector<LinkOffsets>> wall_offsets;  // of each wall link
    std::vector<WallCell> wall_cells;
    std::vector<WallLink> wall_links;
    std::vector<CutLink> cut_links;  // after all copies, in the order of their incoming places in the first phase
    ByPhase<std::vector<CutPlaces>> cut_places;
    std::vector<SheetLink> sheet_links;  // when nothing reads post-collision populations any more
    ByPhase<std::vector<SheetPlaces>> sheet_places;
    std::vector<BoundaryCell> boundary_cells;        // computed after all links
    std::vector<ScaledVector> scaled_values;         // of links and boundary cells that change in time
    double reference_density = 1, wall_inertia = 1;  // as in boundary::Wall, for these
    std::vector<ScaledNumber> scaled_numbers;        // of other walls
    std::vector<ScaledTerm> scaled_terms;
    Index boundary_numbers = 0;            // how many numbers the boundary cells keep in all
    std::vector<SpongeCell> sponge_cells;  // after all others
    std::vector<SpongeLayer> sponge_layers;
    std::vector<WallTemperature> wall_temperatures;
    std::vector<ThermalCell> thermal_cells;
    std::vector<ThermalLink> thermal_links;
    std::vector<ThermalTerm> thermal_terms;
    std::vector<VelocityCell> velocity_cells;
    std::vector<VelocityLink> velocity_links;
    std::vector<WallColumn> wall_columns;  // filled after the copies
    std::vector<WallCorner> wall_corners;  // likewise
    // Of a state of moments, whose wall cells lie beside the block too, row by row: the solid cells, with one more
    // layer around, and how many cells there are behind each face of the block (2 axis + side) before a wall, or
    // before a face with free slip, behind which lie mirror images of the cells before it.
    std::vector<SolidCell> solid_cells;
    std::vector<boundary::LinearWeights> link_weights;  // of each wall link; empty where all walls are half-way
    int cells_to_wall[6] = {no_wall, no_wall, no_wall, no_wall, no_wall, no_wall};
    int cells_to_mirror[6] = {no_wall, no_wall, no_wall, no_wall, no_wall, no_wall};

    /// How many factors of a step the scaled values and numbers take at least.
    int factors_needed() const {
        int needed = 0;
        for (const ScaledVector& value : scaled_values) {
            needed = std::max(needed, value.series + (value.components - 1) * value.stride + 1);
        }
        for (const ScaledTerm& term : scaled_terms) {
            needed = std::max(needed, term.series + 1);
        }
        return needed;
    }
};

}  // namespace lbm::backend
