// Lists the velocities around a block, and what its cells find in place of velocities behind walls.
#include "velocity_plan.h"

namespace lbm::engine {
namespace {

int wrapped(int at, int n) { return at < 0 ? at + n : at >= n ? at - n : at; }

/// The link through a face whose condition says what is beyond; `velocity` is the given one, 0 without.
backend::VelocityLink link_beyond(boundary::Beyond beyond, const double (&velocity)[3], unsigned char direction) {
    backend::VelocityLink link{{0, 0, 0}, {1, 1, 1}, direction, beyond == boundary::Beyond::Extrapolated};
    if (beyond == boundary::Beyond::Wall) {
        for (int d = 0; d < 3; ++d) {
            link.sign[d] = -1;
            link.value[d] = 2 * velocity[d];
        }
    } else if (beyond == boundary::Beyond::Mirrored) {
        link.sign[direction / 2] = -1;
    }
    return link;
}

}  // namespace

VelocityPlan::VelocityPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own, PlanOf part) {
    add_copies(domain, blocks, own);
    if (part == PlanOf::Block) {
        add_cells(domain, blocks[std::size_t(own)]);
    }
}

void VelocityPlan::add_copies(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own) {
    const BlockPlacement& here = blocks[std::size_t(own)];
    const int size[3] = {here.address.nx, here.address.ny, here.address.nz};
    BlockFinder holder(blocks, own);
    for (int axis = 0; axis < domain.D; ++axis) {
        if (here.address.self_periodic[axis]) {
            continue;
        }
        for (const int beyond : {-1, size[axis]}) {
            int first[3] = {0, 0, 0}, end[3] = {size[0], size[1], size[2]};
            first[axis] = beyond;
            end[axis] = beyond + 1;
            const int there = here.offset[axis] + beyond;
            if (!is_periodic(domain.faces[2 * axis]) && (there < 0 || there >= domain.size[axis])) {
                continue;
            }
            for (int z = first[2]; z < end[2]; ++z) {
                for (int y = first[1]; y < end[1]; ++y) {
                    for (int x = first[0]; x < end[0]; ++x) {
                        int cell[3] = {here.offset[0] + x, here.offset[1] + y, here.offset[2] + z};
                        cell[axis] = wrapped(cell[axis], domain.size[axis]);
                        const int block = holder(cell);
                        const int(&corner)[3] = blocks[std::size_t(block)].offset;
                        copies.push_back(
                            {x, y, z, block, {cell[0] - corner[0], cell[1] - corner[1], cell[2] - corner[2]}});
                    }
                }
            }
        }
    }
}

bool VelocityPlan::find_wall(const Domain& domain, const int (&cell)[3], int axis, int side, Wall& wall) {
    int next[3] = {cell[0], cell[1], cell[2]};
    next[axis] += 2 * side - 1;
    if (next[axis] < 0 || next[axis] >= domain.size[axis]) {
        if (!is_periodic(domain.faces[2 * axis])) {
            wall = {2 * axis + side, -1, domain.face_cell(2 * axis + side, cell[0], cell[1], cell[2])};
            return true;
        }
        next[axis] = wrapped(next[axis], domain.size[axis]);
    }
    int to[3] = {0, 0, 0};
    to[axis] = 2 * side - 1;
    wall = {-1, domain.wall_before(cell, to, next), domain.known_cell(next[0], next[1], next[2])};
    return wall.body >= 0;
}

void VelocityPlan::add_cells(const Domain& domain, const BlockPlacement& here) {
    const auto is_at_face = [&](int axis, int at) {
        return axis < domain.D && !is_periodic(domain.faces[2 * axis]) && (at == 0 || at == domain.size[axis] - 1);
    };
    for (int z = 0; z < here.address.nz; ++z) {
        for (int y = 0; y < here.address.ny; ++y) {
            const bool all =
                !domain.owner.empty() || is_at_face(1, here.offset[1] + y) || is_at_face(2, here.offset[2] + z);
            for (int x = 0; x < here.address.nx; ++x) {
                const int cell[3] = {here.offset[0] + x, here.offset[1] + y, here.offset[2] + z};
                if ((!all && !is_at_face(0, cell[0])) || domain.solid(cell)) {
                    continue;
                }
                backend::VelocityCell found{x, y, z, int(links.size()), 0};
                for (int direction = 0; direction < 2 * domain.D; ++direction) {
                    Wall wall{};
                    if (find_wall(domain, cell, direction / 2, direction % 2, wall)) {
                        links.push_back({{0, 0, 0}, {1, 1, 1}, static_cast<unsigned char>(direction), false});
                        walls_.push_back(wall);
                        ++found.count;
                    }
                }
                if (found.count > 0) {
                    cells.push_back(found);
                }
            }
        }
    }
}

void VelocityPlan::refresh(const Domain& domain, std::vector<backend::VelocityLink>& of_plan) const {
    for (std::size_t k = 0; k < walls_.size(); ++k) {
        const Wall& wall = walls_[k];
        const bool face = wall.face >= 0;
        const std::vector<double>& given = face ? domain.face_value[wall.face] : domain.body_velocity[wall.body];
        const Index count = face ? domain.face_cells(wall.face) : domain.known.cells();
        double velocity[3] = {};
        const FaceKind kind = face ? domain.faces[wall.face] : face_kind<boundary::MovingWall>;
        with_condition(kind, [&](auto c) {
            using Condition = decltype(c);
            for (int d = 0; d < domain.D && Condition::value == boundary::Value::Velocity; ++d) {
                velocity[d] = component(given, domain.D, d, wall.place, count);
            }
            of_plan[k] = link_beyond(Condition::beyond, velocity, of_plan[k].direction);
        });
    }
}

void VelocityPlan::list_scaled(const Domain& domain, backend::LinkPlan& plan) const {
    for (std::size_t k = 0; k < walls_.size(); ++k) {
        const Wall& wall = walls_[k];
        const bool face = wall.face >= 0;
        const ScaledValue& given = face ? domain.face_scaled[wall.face] : domain.body_scaled[std::size_t(wall.body)];
        const FaceKind kind = face ? domain.faces[wall.face] : face_kind<boundary::MovingWall>;
        const bool takes_velocity = with_condition(kind, [](auto c) {
            using Condition = decltype(c);
            return Condition::beyond == boundary::Beyond::Wall && Condition::value == boundary::Value::Velocity;
        });
        if (!takes_velocity || !given.changes(wall.place)) {
            continue;
        }
        const Index count = face ? domain.face_cells(wall.face) : domain.known.cells();
        const backend::ScaledVector velocity = given.at(domain.D, wall.place, count);
        for (int d = 0; d < domain.D; ++d) {
            const int term = int(plan.scaled_terms.size());
            plan.scaled_terms.push_back({2, velocity.part[d], 0, velocity.series + d * velocity.stride});
            plan.scaled_numbers.push_back({backend::ScaledNumber::Of::VelocityLink, int(k), d, term, 1, -0.0, 1, 0});
        }
    }
}

}  // namespace lbm::engine
