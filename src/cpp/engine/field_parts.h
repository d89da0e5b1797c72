// The parts of the domain's arrays that belong to a block. Arrays have x fastest, then y, z and the component.
#pragma once

#include <algorithm>
#include <vector>

#include "domain.h"
#include "layout.h"

namespace lbm::engine {

/// Calls visit(first in the domain's array, first in the block's, count) for every row of `components` fields.
template <class Visit>
void for_rows(const Domain& domain, const Block& block, int components, Visit&& visit) {
    Index part = 0;
    for (int k = 0; k < components; ++k) {
        for (int z = 0; z < block.size[2]; ++z) {
            for (int y = 0; y < block.size[1]; ++y, part += block.size[0]) {
                const Index cell = domain.cell(block.offset[0], block.offset[1] + y, block.offset[2] + z);
                visit(k * domain.cells() + cell, part, block.size[0]);
            }
        }
    }
}

/// A block's part of an array of the domain, copied to `scratch`; the array itself where the block is all of it.
template <class T>
const T* part_of_field(const T* whole, const Domain& domain, const Block& block, int components,
                       std::vector<T>& scratch) {
    if (whole == nullptr || block.cells() == domain.cells()) {
        return whole;
    }
    for_rows(domain, block, components,
             [&](Index from, Index to, Index count) { std::copy_n(whole + from, count, scratch.begin() + to); });
    return scratch.data();
}

/// Reads a block's part by read(array of the block) and puts it into an array of the domain.
template <class T, class Read>
void put_part(T* whole, const Domain& domain, const Block& block, int components, Read&& read) {
    if (block.cells() == domain.cells()) {
        read(whole);
        return;
    }
    std::vector<T> part(std::size_t(components * block.cells()));
    read(part.data());
    for_rows(domain, block, components,
             [&](Index to, Index from, Index count) { std::copy_n(part.begin() + from, count, whole + to); });
}

}  // namespace lbm::engine
