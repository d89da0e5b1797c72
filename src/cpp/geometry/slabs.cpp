// The crossings of lattice lines in slabs of lines.
#include "slabs.h"

#include <numeric>

namespace lbm::geometry {

Slabs::Slabs(const Surface& surface, const LineDirection& along, const LineRange& lines) : range(lines) {
    const auto all = std::max<Index>(range.first_end - range.first_begin, 0);
    lines_each = std::max<Index>(1, all / 256);
    const auto count = std::size_t((all + lines_each - 1) / lines_each);
    start.assign(count + 1, 0);
    const auto number = std::int32_t(surface.mesh().triangles.size());
    const auto for_slabs = [&](auto&& body) {
        for (std::int32_t t = 0; t < number; ++t) {
            Index first[2];
            first_lines(surface, along, t, first);
            first[0] = std::max(first[0], range.first_begin);
            first[1] = std::min(first[1], range.first_end);
            if (first[0] < first[1]) {
                const Index last = (first[1] - 1 - range.first_begin) / lines_each;
                for (Index k = (first[0] - range.first_begin) / lines_each; k <= last; ++k) {
                    body(std::size_t(k), t);
                }
            }
        }
    };
    for_slabs([&](std::size_t slab, std::int32_t) { ++start[slab + 1]; });
    std::partial_sum(start.begin(), start.end(), start.begin());
    triangles.resize(std::size_t(start.back()));
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    for_slabs([&](std::size_t slab, std::int32_t t) { triangles[std::size_t(next[slab]++)] = t; });
}

LineRange Slabs::lines_of(long slab) const {
    LineRange found = range;
    found.first_begin = range.first_begin + slab * lines_each;
    found.first_end = std::min(found.first_begin + lines_each, range.first_end);
    return found;
}

LineRange lines_of(const Part& part, const LineDirection& along) {
    return {part.offset[along.first], part.offset[along.first] + part.size[along.first], part.offset[along.second],
            part.offset[along.second] + part.size[along.second]};
}

}  // namespace lbm::geometry
