// Lists the cells of sponges with their rates.
#include "sponge_plan.h"

#include <algorithm>

namespace lbm::engine {
namespace {

/// How much of its largest rates a sponge has at a cell of the domain: 0 outside of it.
double share_at(const Sponge& sponge, const Domain& domain, const int (&at)[3]) {
    const int axis = sponge.face / 2;
    const int distance = sponge.face % 2 == 0 ? at[axis] : domain.size[axis] - 1 - at[axis];
    const double depth = std::max(0.0, (sponge.thickness - distance - 0.5) / sponge.thickness);
    return depth * depth;
}

}  // namespace

std::vector<backend::SpongeCell> sponge_cells(const Domain& domain, const BlockPlacement& block) {
    std::vector<backend::SpongeCell> cells;
    if (domain.sponges.empty()) {
        return cells;
    }
    const Address& address = block.address;
    for (int z = 0; z < address.nz; ++z) {
        for (int y = 0; y < address.ny; ++y) {
            for (int x = 0; x < address.nx; ++x) {
                const int at[3] = {block.offset[0] + x, block.offset[1] + y, block.offset[2] + z};
                backend::SpongeCell cell{x, y, z, 0, 0, 0, {}};
                for (const Sponge& sponge : domain.sponges) {
                    const double share = share_at(sponge, domain, at);
                    cell.damping = std::max(cell.damping, share * sponge.damping);
                    if (share * sponge.pull > cell.pull) {
                        cell.pull = share * sponge.pull;
                        cell.deviation = sponge.density - 1;
                        std::copy(sponge.velocity, sponge.velocity + 3, cell.velocity);
                    }
                }
                if ((cell.damping > 0 || cell.pull > 0) && !domain.solid(at)) {
                    cells.push_back(cell);
                }
            }
        }
    }
    return cells;
}

}  // namespace lbm::engine
