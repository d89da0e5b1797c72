// Lists the cells of sponges with their rates.
#include "sponge_plan.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

namespace lbm::engine {
namespace {

using backend::SpongeLayer;

/// How much of its largest rates a sponge has at a cell of the domain: 0 outside of it.
double share_at(const Sponge& sponge, const Domain& domain, const int (&at)[3]) {
    const int axis = sponge.face / 2;
    const int distance = sponge.face % 2 == 0 ? at[axis] : domain.size[axis] - 1 - at[axis];
    const double depth = std::max(0.0, (sponge.thickness - distance - 0.5) / sponge.thickness);
    return depth * depth;
}

SpongeLayer layer_at(const Domain& domain, const int (&at)[3]) {
    SpongeLayer layer{};
    for (const Sponge& sponge : domain.sponges) {
        const double share = share_at(sponge, domain, at);
        layer.damping = std::max(layer.damping, share * sponge.damping);
        if (share * sponge.pull > layer.pull) {
            layer.pull = share * sponge.pull;
            layer.deviation = sponge.density - 1;
            std::copy(sponge.velocity, sponge.velocity + 3, layer.velocity);
        }
    }
    return layer;
}

struct LayerOrder {
    static auto key(const SpongeLayer& layer) {
        return std::tie(layer.damping, layer.pull, layer.deviation, layer.velocity[0], layer.velocity[1],
                        layer.velocity[2]);
    }
    bool operator()(const SpongeLayer& a, const SpongeLayer& b) const { return key(a) < key(b); }
};

}  // namespace

void add_sponge_cells(const Domain& domain, const BlockPlacement& block, backend::LinkPlan& plan) {
    if (domain.sponges.empty()) {
        return;
    }
    const Address& address = block.address;
    const int(&corner)[3] = block.offset;
    const Box box{{corner[0], corner[1], corner[2]}, {address.nx, address.ny, address.nz}};
    plan.sponge_cells.reserve(std::size_t(cells_in_sponges(domain.size, domain.sponges, box)));
    std::map<SpongeLayer, int, LayerOrder> numbers;
    for (int z = 0; z < address.nz; ++z) {
        for (int y = 0; y < address.ny; ++y) {
            for (int x = 0; x < address.nx; ++x) {
                const int at[3] = {corner[0] + x, corner[1] + y, corner[2] + z};
                const SpongeLayer layer = layer_at(domain, at);
                if ((layer.damping > 0 || layer.pull > 0) && !domain.solid(at)) {
                    const auto [found, is_new] = numbers.emplace(layer, int(plan.sponge_layers.size()));
                    if (is_new) {
                        plan.sponge_layers.push_back(layer);
                    }
                    plan.sponge_cells.push_back({x, y, z, found->second});
                }
            }
        }
    }
}

Index cells_in_sponges(const int (&domain)[3], const std::vector<Sponge>& sponges, const Box& box) {
    int low[3] = {0, 0, 0}, high[3] = {domain[0], domain[1], domain[2]};  // what no sponge covers is a box
    for (const Sponge& sponge : sponges) {
        const int axis = sponge.face / 2;
        if (sponge.face < 0 || axis > 2) {
            throw std::invalid_argument("face of a sponge: " + std::to_string(sponge.face) + " given, must be 0 to 5");
        }
        const int thickness = std::clamp(sponge.thickness, 0, domain[axis]);
        if (sponge.face % 2 == 0) {
            low[axis] = std::max(low[axis], thickness);
        } else {
            high[axis] = std::min(high[axis], domain[axis] - thickness);
        }
    }
    Index outside = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const int first = box.offset[axis], end = first + box.size[axis];
        outside *= std::max(0, std::min(high[axis], end) - std::max(low[axis], first));
    }
    return box.cells() - outside;
}

}  // namespace lbm::engine
