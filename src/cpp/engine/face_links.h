// The links along which a wall on a face of the domain exchanges momentum with the fluid of a block. They are listed
// for those who ask for the force, and only as long: 80 bytes for each of up to nine links of a cell are more than the
// populations of the cells before the face, and most runs need none of them.
#pragma once

#include <vector>

#include "../backend/link_data.h"
#include "layout.h"
#include "link_resolver.h"

namespace lbm::engine {

/// Whether a face has a wall off which populations bounce half-way, so that it has a force by momentum exchange.
bool bounces_back(const Domain& domain, int face);

class FaceLinks {
public:
    /// Lists the links into the cells of a block that the wall on the face governs. Keeps a reference to the domain,
    /// whose solid cells must not change.
    FaceLinks(const Domain& domain, const Block& block, int face);

    /// The links with the wall's velocity and the reference density of now.
    const std::vector<backend::BodyLink>& now();

private:
    /// Adds the link into cell (x, y, z) of the domain with velocity i, if the wall governs it.
    template <class S>
    void add(const LinkResolver<S>& resolver, int x, int y, int z, int i);
    void set_wall_momentum();

    const Domain& domain_;
    int corner_[3];  // of the block
    int face_;
    std::vector<backend::BodyLink> links_;
    std::vector<double> velocity_;  // of the wall, with which the links were set
    double reference_density_ = 0;  // likewise
};

}  // namespace lbm::engine
