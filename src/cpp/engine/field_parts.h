// Copies the parts of arrays that belong to a block. Arrays cover a window of the domain, mostly a rank's local
// subdomain; x is fastest, then y, z and the component.
#pragma once

#include <algorithm>
#include <vector>

#include "layout.h"

namespace lbm::engine {

/// Calls visit(first element in the window's array, first in the block's, count) for every row of `components` fields.
template <class Visit>
void for_rows(const Box& window, const Block& block, int components, Visit&& visit) {
    Index part = 0;
    for (int k = 0; k < components; ++k) {
        for (int z = 0; z < block.size[2]; ++z) {
            for (int y = 0; y < block.size[1]; ++y, part += block.size[0]) {
                const Index row = Index(block.offset[2] - window.offset[2] + z) * window.size[1] +
                                  (block.offset[1] - window.offset[1] + y);
                const Index cell = row * window.size[0] + (block.offset[0] - window.offset[0]);
                visit(k * window.cells() + cell, part, block.size[0]);
            }
        }
    }
}

/// A block's part of an array, copied to `scratch`, or the array itself if the block fills the window.
template <class T>
const T* part_of_field(const T* whole, const Box& window, const Block& block, int components, std::vector<T>& scratch) {
    if (whole == nullptr || block.cells() == window.cells()) {
        return whole;
    }
    for_rows(window, block, components,
             [&](Index from, Index to, Index count) { std::copy_n(whole + from, count, scratch.begin() + to); });
    return scratch.data();
}

/// Calls read(array of the block) and stores the result into the block's part of an array of the window.
template <class T, class Read>
void put_part(T* whole, const Box& window, const Block& block, int components, Read&& read) {
    if (block.cells() == window.cells()) {
        read(whole);
        return;
    }
    std::vector<T> part(std::size_t(components * block.cells()));
    read(part.data());
    for_rows(window, block, components,
             [&](Index to, Index from, Index count) { std::copy_n(part.begin() + from, count, whole + to); });
}

}  // namespace lbm::engine
