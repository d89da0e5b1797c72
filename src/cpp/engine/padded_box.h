// The padded box of a block: its cells and one layer of neighbours, from which the gradients of an initial state are
// computed.
#pragma once

#include <vector>

#include "domain.h"
#include "layout.h"

namespace lbm::engine {

/// A box that contains a block and one layer of cells on each side where the domain continues, possibly through a
/// periodic face.
struct PaddedBox {
    int first[3];  // lowest cell, in the domain; outside of it where the layer lies behind a periodic face
    int size[3];
    int corner[3];     // offset of the block in the box
    bool periodic[3];  // axes along which the box spans the whole domain and is periodic

    PaddedBox(const Domain& domain, const Block& block) {
        for (int a = 0; a < 3; ++a) {
            const bool self_periodic = is_periodic(domain.faces[2 * a]);
            const bool whole = block.size[a] == domain.size[a];
            const int below = !whole && (self_periodic || block.offset[a] > 0) ? 1 : 0;
            const int above = !whole && (self_periodic || block.offset[a] + block.size[a] < domain.size[a]) ? 1 : 0;
            first[a] = block.offset[a] - below;
            size[a] = block.size[a] + below + above;
            corner[a] = below;
            periodic[a] = self_periodic && whole;
        }
    }

    /// value(component, index of the cell among the known ones) for all cells of the box, x fastest.
    template <class T, class Value>
    std::vector<T> gather(const Domain& domain, int components, Value&& value) const {
        std::vector<T> all;
        all.reserve(std::size_t(components) * std::size_t(size[0]) * std::size_t(size[1]) * std::size_t(size[2]));
        const auto around = [&](int at, int a) { return (at + domain.size[a]) % domain.size[a]; };
        for (int k = 0; k < components; ++k) {
            for (int z = first[2]; z < first[2] + size[2]; ++z) {
                for (int y = first[1]; y < first[1] + size[1]; ++y) {
                    for (int x = first[0]; x < first[0] + size[0]; ++x) {
                        all.push_back(value(k, domain.known_cell(around(x, 0), around(y, 1), around(z, 2))));
                    }
                }
            }
        }
        return all;
    }
};

}  // namespace lbm::engine
