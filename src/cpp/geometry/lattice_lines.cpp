// Lattice lines followed by threads of the host.
#include "lattice_lines.h"

#include <cstring>

#include "parallel.h"
#include "slabs.h"

namespace lbm::geometry {

void HostLines::fill(const Part& inner, const Part& part, std::uint8_t* solid) {
    constexpr int velocity[3] = {0, 0, 1};
    const Direction along(velocity);
    const Slabs slabs(surface(), along, lines_of(inner, along));
    for_pieces(slabs.count(), threads(), [&](long slab) {
        for_lines(surface(), along, slabs, slab, [&](Index x, Index y, const Crossing* crossing, const Crossing* last) {
            std::uint8_t* line = solid + ((x - part.offset[0]) * part.size[1] + y - part.offset[1]) * part.size[2] +
                                 inner.offset[2] - part.offset[2];
            for_runs(crossing, last, surface().closure(), inner.offset[2], inner.size[2],
                     [&](Index begin, Index end) { std::memset(line + begin, 1, std::size_t(end - begin)); });
        });
    });
}

void HostLines::for_cuts(const LineDirection& along, const LineRange& lines, const CellBox& box, const TakeCuts& take) {
    const Slabs slabs(surface(), along, lines);
    for_pieces(slabs.count(), threads(), [&](long slab) {
        std::vector<LineCut> found;
        slabs.for_crossings_of(surface(), along, slab, [&](Index first, Index second, int, const Cut& cut) {
            const LineCut on = on_link(along, first, second, cut);
            if (box.has(on.cell)) {
                found.push_back(on);
            }
        });
        take(found.data(), found.size());
    });
}

}  // namespace lbm::geometry
