// Finds the walls between fluid cells among the links that the surface of a body cuts.
#include <stdexcept>
#include <tuple>

#include "../lattice/stencil.h"
#include "domain.h"

namespace lbm::engine {

void Domain::add_sheets() {
    const CutLinks& cuts = body_cuts.back();
    const int body = int(body_cuts.size()) - 1;
    backend::with_stencil(stencil, [&](auto s) {
        using S = decltype(s);
        for (Index k = 0; k < cuts.count(); ++k) {
            const Index link = cuts.links[std::size_t(k)], cell = link / S::Q;
            const int direction = int(link % S::Q);
            const Index key = key_of(cell, S::c[direction]);
            Index end = -1;
            with_key(key, [&](const int(&at)[3], const int(&to)[3]) {
                int next[3];
                for (int a = 0; a < 3; ++a) {
                    next[a] = at[a] + to[a];
                    if (next[a] < 0 || next[a] >= size[a]) {
                        if (a >= D || !is_periodic(faces[2 * a])) {
                            return;
                        }
                        next[a] = next[a] < 0 ? next[a] + size[a] : next[a] - size[a];
                    }
                }
                end = known_cell(next[0], next[1], next[2]);
            });
            if (end < 0 || owner[std::size_t(end)] != no_body || owner[std::size_t(cell)] != no_body) {
                continue;
            }
            if (cuts.find(end * S::Q + Stencil<S>::opposite(direction)) < 0) {
                throw std::invalid_argument("links: one between two fluid cells must be given from both of them");
            }
            sheets.push_back({key, cuts.distance[std::size_t(k)], body});
        }
    });
    std::sort(sheets.begin(), sheets.end(), [](const SheetWall& a, const SheetWall& b) {
        return std::tie(a.key, a.distance, a.body) < std::tie(b.key, b.distance, b.body);
    });
}

}  // namespace lbm::engine
