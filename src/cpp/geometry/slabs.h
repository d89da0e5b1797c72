// The crossings of lattice lines in slabs of lines, which threads of the host share.
#pragma once

#include <vector>

#include "lines.h"

namespace lbm::geometry {

/// Triangles by the lines that may cross them: of slab k those that lines with first numbers from begin + k lines_each
/// on may cross.
struct Slabs {
    Slabs(const Surface& surface, const LineDirection& along, const LineRange& lines);

    long count() const { return long(start.size()) - 1; }
    LineRange lines_of(long slab) const;

    /// Calls body(first, second, sign, cut) for all crossings of a slab's lines.
    template <class Body>
    void for_crossings_of(const Surface& surface, const LineDirection& along, long slab, Body&& body) const {
        const LineRange lines = lines_of(slab);
        for (std::int64_t k = start[std::size_t(slab)]; k < start[std::size_t(slab) + 1]; ++k) {
            for_crossings(surface, along, triangles[std::size_t(k)], lines, body);
        }
    }

    LineRange range;
    Index lines_each;
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> triangles;
};

/// The lines through the cells of a part along one of the axes.
LineRange lines_of(const Part& part, const LineDirection& along);

struct Crossing {
    Index first, second, cell;
    int sign;
};

/// Whether a line is inside a surface where it has been wound about so often, and has crossed it so often.
inline bool is_filled(Closure closure, std::int64_t wound, std::int64_t crossings) {
    return closure == Closure::Even ? crossings % 2 != 0 : wound != 0;
}

/// Calls body(first, second, crossings, one past the last) for each line of a slab that crosses the surface, its
/// crossings in order along the line.
template <class Body>
void for_lines(const Surface& surface, const LineDirection& along, const Slabs& slabs, long slab, Body&& body) {
    std::vector<Crossing> found;
    slabs.for_crossings_of(surface, along, slab, [&](Index first, Index second, int sign, const Cut& cut) {
        found.push_back({first, second, cut.cell, sign});
    });
    std::sort(found.begin(), found.end(), [](const Crossing& a, const Crossing& b) {
        return a.first != b.first ? a.first < b.first : a.second != b.second ? a.second < b.second : a.cell < b.cell;
    });
    for (std::size_t start = 0; start < found.size();) {
        std::size_t stop = start + 1;
        while (stop < found.size() && found[stop].first == found[start].first &&
               found[stop].second == found[start].second) {
            ++stop;
        }
        body(found[start].first, found[start].second, &found[start], found.data() + stop);
        start = stop;
    }
}

/// Calls body(begin, end) for the runs of cells, by their numbers in the part, that a line finds filled.
template <class Body>
void for_runs(const Crossing* crossing, const Crossing* last, Closure closure, Index offset, Index size, Body&& body) {
    std::int64_t wound = 0, crossings = 0;
    for (; crossing != last; ++crossing) {
        wound += crossing->sign;
        ++crossings;
        if (is_filled(closure, wound, crossings)) {
            const Index next = crossing + 1 == last ? offset + size : crossing[1].cell + 1;
            const Index begin = std::max<Index>(crossing->cell + 1 - offset, 0), end = std::min(next - offset, size);
            if (begin < end) {
                body(begin, end);
            }
        }
    }
}

}  // namespace lbm::geometry
