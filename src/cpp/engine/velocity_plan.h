// The velocities that a block needs beyond its cells for the gradients of turbulence models: copies from other blocks
// and through periodic faces, and the cells that have walls or bodies next to them.
#pragma once

#include <vector>

#include "../backend/links.h"
#include "block_placement.h"

namespace lbm::engine {

class VelocityPlan {
public:
    /// A velocity beyond the block's cells that equals that of a cell of this or another block.
    struct Copy {
        int x, y, z;
        int block;
        int from[3];  // relative to that block's corner
    };

    VelocityPlan() = default;
    /// The plan of block `own`; `blocks` are all blocks, which tile the domain.
    VelocityPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own, PlanOf part);

    std::vector<Copy> copies;
    std::vector<backend::VelocityCell> cells;
    std::vector<backend::VelocityLink> links;

    /// Recomputes the signs and values of `links`, which are those of the plan, from the velocities of faces and
    /// bodies.
    void refresh(const Domain& domain, std::vector<backend::VelocityLink>& of_plan) const;
    /// Lists the values of links that change in time, with their terms.
    void list_scaled(const Domain& domain, backend::LinkPlan& plan) const;
    std::size_t bytes() const { return walls_.capacity() * sizeof(Wall); }

private:
    /// What lies behind a link: a cell of a face, or among the known ones a solid cell, or a fluid one behind a sheet.
    struct Wall {
        int face;  // -1: a body
        int body;
        Index place;
    };

    void add_copies(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own);
    void add_cells(const Domain& domain, const BlockPlacement& here);
    static bool find_wall(const Domain& domain, const int (&cell)[3], int axis, int side, Wall& wall);

    std::vector<Wall> walls_;  // by link
};

}  // namespace lbm::engine
