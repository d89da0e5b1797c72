// The wall links of a plan as updates of a state of moments take them.
#pragma once

#include <vector>

#include "../lattice/boundary/all.h"
#include "links.h"

namespace lbm::backend {

/// With the formula of moving walls in place of that of walls at rest, which it holds for too: cells have links of
/// fewer kinds then.
inline std::vector<WallLink> moment_links(const LinkPlan& plan) {
    std::vector<WallLink> links = plan.wall_links;
    for (WallLink& link : links) {
        if (link.condition == position_in<boundary::Conditions, boundary::NoSlip>) {
            link.condition = position_in<boundary::Conditions, boundary::MovingWall>;
        }
    }
    return links;
}

}  // namespace lbm::backend
