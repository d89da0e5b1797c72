// The halo plan of a block: every population that arrives from outside its fluid, listed once before the first step.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "boundary_plan.h"
#include "long_range_plan.h"
#include "temperature_plan.h"

namespace lbm::engine {

class BoundaryHaloPlan {
public:
    /// What another block brings, before the links of the block itself are served: from places of its lattice to places
    /// of this one's.
    struct Import {
        int from;
        backend::ByPhase<std::vector<backend::CopyRun>> copies;
        bool leaves_rows = false;  // some of it leaves the other block through the ends of its rows
    };

    BoundaryHaloPlan() = default;
    /// For block `own` of all blocks, which tile the domain.
    BoundaryHaloPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own,
                     const std::vector<Phase>& phases);

    const backend::LinkPlan& links() const { return links_; }
    /// In the order of the blocks.
    const std::vector<Import>& imports() const { return imports_; }
    /// The links on which a body and the fluid exchange momentum.
    const std::vector<backend::BodyLink>& body_links(int body) const { return body_links_[body]; }

    /// The heat through a face or a body's surface into the block.
    const WallHeat& face_heat(int face) const { return temperatures_.face_heat[std::size_t(face)]; }
    const WallHeat& body_heat(int body) const { return temperatures_.body_heat[std::size_t(body)]; }

    /// visit(cell's place on the face, number k, its place among those of all boundary cells of the plan).
    template <class Visit>
    void for_boundary_numbers(int face, Visit&& visit) const {
        for (std::size_t c = 0; c < boundary_places_.size(); ++c) {
            const backend::BoundaryCell& cell = links_.boundary_cells[c];
            for (int k = 0; cell.face == face && k < cell.stored; ++k) {
                visit(boundary_places_[c], k, cell.first + k);
            }
        }
    }

    /// Takes over the current velocities, densities and temperatures of the faces and bodies.
    void refresh_values(const Domain& domain);

    std::size_t bytes() const;

private:
    /// What prescribes the value of a wall link: a face (at its cell) or a body (at its solid cell).
    struct ValueSource {
        int face;  // -1: a body
        int body;
        Index place;
        int off_wall;  // the velocity off the wall: of the link, mirrored where a free-slip face lies between
    };

    template <class S>
    struct Builder;

    void take(LongRangePlan&& far, const std::vector<Phase>& phases);
    template <class Condition>
    static boundary::Wall wall(const Domain& domain, const ValueSource& source);
    static double value(const Domain& domain, FaceKind kind, const ValueSource& source);
    void refresh_temperatures(const Domain& domain);

    backend::LinkPlan links_;
    std::vector<Import> imports_;
    std::vector<ValueSource> value_sources_;  // of each wall link
    std::vector<Index> boundary_places_;      // of each boundary cell on its face
    std::vector<std::vector<backend::BodyLink>> body_links_;
    WallTerms column_temperatures_, column_gradients_;  // of each column behind a wall
    TemperaturePlan temperatures_;                      // its wall_temperatures, cells and links are moved to links_
};

}  // namespace lbm::engine
