// Where the surface of a body cuts a link, for a plan.
#pragma once

#include "../lattice/stencil.h"
#include "domain.h"
#include "link_resolver.h"

namespace lbm::engine {

/// The distance of a wall half-way between the centres of two cells, as a fraction of the link.
constexpr double halfway = 0.5;

/// The wall that a link into a fluid cell comes off.
struct CutWall {
    Index cut;          // the link's place among those that the body's surface cuts; -1 if it is none of them
    double distance;    // half-way too where what the formula takes from behind the cell does not come from fluid
    bool is_sheet;      // whether it lies between two fluid cells
    LinkSource facing;  // where the population streams from that comes in against that of the link

    boundary::LinearWeights weights(const CutLinks& cuts) const {
        return distance == halfway ? boundary::LinearWeights{0, 0, 1} : weights_of(cuts.scheme, distance);
    }
};

/// Finds the wall of the link through which population i enters cell (x, y, z) of the domain off a body.
template <class S>
CutWall cut_wall(const Domain& domain, const LinkResolver<S>& resolver, int x, int y, int z, int i,
                 const LinkSource& source) {
    const CutLinks& cuts = domain.body_cuts[std::size_t(source.owner)];
    const int towards = Stencil<S>::opposite(i);
    CutWall wall{-1, halfway, !domain.solid(source.x, source.y, source.z), {LinkSource::Kind::Body, x, y, z, i, -1}};
    if (cuts.count() > 0 && source.i == i) {  // other links are those of mirror images behind faces with free slip
        wall.cut = cuts.find(domain.known_cell(x, y, z) * S::Q + towards);
    }
    if (wall.cut >= 0) {
        wall.facing = resolver.resolve(x, y, z, towards);
        const auto kind = wall.facing.kind;
        if (kind == LinkSource::Kind::Neighbor || kind == LinkSource::Kind::Copy) {
            wall.distance = cuts.distance[std::size_t(wall.cut)];
        }
    }
    return wall;
}

}  // namespace lbm::engine
