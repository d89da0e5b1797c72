// Checks that the blocks of a layout tile their domain.
#include "layout.h"

#include <stdexcept>
#include <utility>

namespace lbm::engine {
namespace {

std::string describe(const Block& b) {
    auto triple = [](const int(&v)[3]) {
        return "(" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) + ")";
    };
    return "block at " + triple(b.offset) + " of size " + triple(b.size);
}

bool overlap(const Block& a, const Block& b) {
    for (int d = 0; d < 3; ++d) {
        if (a.offset[d] + a.size[d] <= b.offset[d] || b.offset[d] + b.size[d] <= a.offset[d]) {
            return false;
        }
    }
    return true;
}

}  // namespace

Layout::Layout(const int (&shape)[3], std::vector<Block> blocks) : blocks_(std::move(blocks)) {
    long long covered = 0;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
        const Block& b = blocks_[k];
        for (int d = 0; d < 3; ++d) {
            if (b.size[d] < 1 || b.offset[d] < 0 || b.size[d] > shape[d] - b.offset[d]) {
                throw std::invalid_argument("layout: " + describe(b) + " does not lie inside the domain");
            }
        }
        for (std::size_t l = 0; l < k; ++l) {
            if (overlap(b, blocks_[l])) {
                throw std::invalid_argument("layout: " + describe(b) + " overlaps " + describe(blocks_[l]));
            }
        }
        covered += static_cast<long long>(b.size[0]) * b.size[1] * b.size[2];
    }
    if (covered != static_cast<long long>(shape[0]) * shape[1] * shape[2]) {
        throw std::invalid_argument("layout: the blocks leave a gap in the domain");
    }
}

Layout Layout::single(const int (&shape)[3], const std::string& device) {
    return Layout(shape, {Block{{0, 0, 0}, {shape[0], shape[1], shape[2]}, 0, device}});
}

}  // namespace lbm::engine
