// The boundary-and-halo plan of a block: all incoming populations that no fluid neighbour of the block supplies, listed
// once before the first step.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"
#include "boundary_plan.h"
#include "long_range_plan.h"
#include "temperature_plan.h"
#include "time_factors.h"
#include "velocity_plan.h"

namespace lbm::engine {

class BoundaryHaloPlan {
public:
    /// The copies from the lattice of another block to that of this one, which the exchange makes before the block
    /// applies its own boundaries.
    struct Import {
        int from;  // number of the other block
        backend::ByPhase<std::vector<backend::CopyRun>> copies;
    };

    BoundaryHaloPlan() = default;
    /// The plan of block `own`; `blocks` are all blocks, which tile the domain. A plan of imports lacks the values of
    /// walls.
    BoundaryHaloPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own,
                     const std::vector<Phase>& phases, PlanOf part = PlanOf::Block);

    const backend::LinkPlan& links() const { return links_; }
    /// The imports from other blocks, in the order of the blocks.
    const std::vector<Import>& imports() const { return imports_; }
    /// The links along which a body and the fluid exchange momentum.
    const std::vector<backend::BodyLink>& body_links(int body) const { return body_links_[body]; }

    /// How the heat through a face or a body's surface into the fluid of the block is computed.
    const WallHeat& face_heat(int face) const { return temperatures_.face_heat[std::size_t(face)]; }
    const WallHeat& body_heat(int body) const { return temperatures_.body_heat[std::size_t(body)]; }

    /// Calls visit(index of the cell on the face, k, index of its number k among those of all boundary cells of the
    /// plan) for each number that a boundary cell of the face keeps.
    template <class Visit>
    void for_boundary_numbers(int face, Visit&& visit) const {
        for (std::size_t c = 0; c < boundary_places_.size(); ++c) {
            const backend::BoundaryCell& cell = links_.boundary_cells[c];
            for (int k = 0; cell.face == face && k < cell.stored; ++k) {
                visit(boundary_places_[c], k, cell.first + k);
            }
        }
    }

    /// Lists what changes in time of wall links and boundary cells, by scaled values of the domain, and of other walls,
    /// also by temperatures among `fields`.
    void list_scaled_values(const Domain& domain, const std::vector<ScaledField>& fields);
    /// Recomputes the values of walls that are not the number of a link or a boundary cell: temperatures, and
    /// velocities for gradients.
    void refresh_fields_at_walls(const Domain& domain);

    /// Recomputes the values of links from the current velocities, densities and temperatures of faces and bodies.
    void refresh_values(const Domain& domain);

    std::size_t bytes() const;

private:
    /// The wall that prescribes the value of a wall link.
    struct ValueSource {
        int face;      // -1: a body
        int body;      // used if face is -1
        Index place;   // index of a cell of the face, or of the body's solid cell among the known ones
        int off_wall;  // velocity that leaves the wall: that of the link, reflected if a free-slip face lies between
        Index cut;     // index among the cut links of the body; -1 if it is none of them
    };

    template <class S>
    struct Builder;
    template <class S>
    struct MomentWallLister;

    /// Lists the walls of a block whose state is moments.
    void add_moment_walls(const Domain& domain, const BlockPlacement& placement, PlanOf part);
    void take(LongRangePlan&& long_range, const std::vector<Phase>& phases);
    /// The values of the wall, inlet or outlet that a condition is evaluated with.
    template <class Condition>
    static boundary::Wall wall(const Domain& domain, const ValueSource& source);
    /// The value of a wall link, such as its wall momentum term.
    static double value(const Domain& domain, FaceKind kind, const ValueSource& source);
    void refresh_temperatures(const Domain& domain);
    void list_scaled_numbers(const Domain& domain, const std::vector<ScaledField>& fields);

    backend::LinkPlan links_;
    std::vector<Import> imports_;
    std::vector<ValueSource> value_sources_;  // by wall link
    std::vector<ValueSource> cut_sources_;    // by cut link
    std::vector<ValueSource> sheet_sources_;  // by side of a sheet link
    std::vector<Index> boundary_places_;      // by boundary cell: its index on the face
    std::vector<std::vector<backend::BodyLink>> body_links_;
    std::vector<std::vector<Index>> cuts_of_links_;  // of those of a body with cut links: the place among these, or -1
    WallTerms column_temperatures_, column_gradients_, column_curvatures_;  // by halo column behind a wall
    VelocityPlan velocities_;                                               // likewise
    TemperaturePlan temperatures_;  // without the lists that are moved to links_
};

}  // namespace lbm::engine
