// Checks that the blocks of a layout tile their domain, and finds neighbours and local subdomains.
#include "layout.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "../backend/moment_force.h"

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

void check_size(const int (&size)[3]) {
    constexpr int longest = 1 << 30;
    // The product below includes the padding of rows and the halo. A cell takes less than 1 KiB, so that the bytes of
    // 2^50 cells stay below 2^63.
    constexpr auto most = double(Index(1) << 50);
    for (const int cells : size) {
        if (cells < 1 || cells > longest) {
            throw std::invalid_argument("shape: " + std::to_string(cells) +
                                        " cells along an axis given, must be 1 to " + std::to_string(longest));
        }
    }
    if (double(size[0] + 128) * (size[1] + 6) * (size[2] + 6) > most) {
        throw std::invalid_argument("shape: " + std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
                                    std::to_string(size[2]) + " cells given, must be fewer than 2^50");
    }
}

Layout::Layout(const int (&shape)[3], std::vector<Block> blocks) : blocks_(std::move(blocks)) {
    check_size(shape);
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

Box known_around(const Domain& domain, const Box& window) {
    const int depth = domain.D == 2 ? backend::most_moment_steps : 2;  // sweeps over moments advance so many steps
    Box known{};
    for (int a = 0; a < 3; ++a) {
        const int n = domain.size[a];
        int first = window.offset[a] - depth, last = window.offset[a] + window.size[a] + depth;
        if (!is_periodic(domain.faces[2 * a]) || last - first >= n) {
            const bool whole = is_periodic(domain.faces[2 * a]);
            first = whole ? 0 : std::max(first, 0);
            last = whole ? n : std::min(last, n);
        }
        known.offset[a] = first;
        known.size[a] = last - first;
    }
    return known;
}

bool are_neighbors(const Domain& domain, int halo_depth, const Block& a, const Block& b) {
    for (int d = 0; d < domain.D; ++d) {
        bool adjacent = false;
        const int around = is_periodic(domain.faces[2 * d]) ? 1 : 0;
        for (int k = -around; k <= around; ++k) {
            const int first = b.offset[d] + k * domain.size[d];
            adjacent = adjacent ||
                       (first < a.offset[d] + a.size[d] + halo_depth && a.offset[d] - halo_depth < first + b.size[d]);
        }
        if (!adjacent) {
            return false;
        }
    }
    return true;
}

Box Layout::window(int rank) const {
    Box box{};
    for (const Block& block : blocks_) {
        if (block.rank != rank) {
            continue;
        }
        const bool first = box.cells() == 0;
        for (int d = 0; d < 3; ++d) {
            const int end = block.offset[d] + block.size[d];
            const int last = first ? end : std::max(end, box.offset[d] + box.size[d]);
            box.offset[d] = first ? block.offset[d] : std::min(block.offset[d], box.offset[d]);
            box.size[d] = last - box.offset[d];
        }
    }
    return box;
}

}  // namespace lbm::engine
