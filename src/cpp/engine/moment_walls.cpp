// The member of the boundary-and-halo plan that lists the walls of a block whose state is moments. Such a block serves
// them within its update, of all cells that this computes: some beside the block too, where it advances several steps.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "boundary_halo_plan.h"
#include "cut_distance.h"
#include "link_resolver.h"

namespace lbm::engine {

template <class S>
struct BoundaryHaloPlan::MomentWallLister {
    BoundaryHaloPlan& plan;
    const Domain& domain;
    const BlockPlacement& placement;
    const Address& address = placement.address;
    const int size[3] = {address.nx, address.ny, address.nz};
    const int around = address.halo_x - 1;  // cells beside the block that all steps but the last compute
    LinkResolver<S> resolver{domain};
    std::vector<bool> solid_rows{}, walled_rows{};  // of the known rows; empty without bodies
    bool is_any_cut = false;

    void list() {
        for (int face = 0; face < 2 * S::D; ++face) {
            const int axis = face / 2, before = placement.offset[axis];
            const int behind = domain.size[axis] - before - size[axis];
            const int cells = face % 2 == 0 ? before : behind;
            if (is_mirror(face)) {
                plan.links_.cells_to_mirror[face] = cells;
            } else if (!is_periodic(domain.faces[face])) {
                plan.links_.cells_to_wall[face] = cells;
            }
        }
        find_solid_rows();
        for_rows(around, [&](int y, int z, int first, int end, const Place& row) {
            // Of a row far from walls only the cells at its ends may have any.
            const int near_first = is_near_walls(row) ? end : 1, near_end = std::max(near_first, size[0] - 1);
            const auto add_cell = [&](const int(&local)[3], const Place& place) { add(local, place); };
            for_cells(y, z, first, near_first, add_cell);
            for_cells(y, z, near_end, end, add_cell);
        });
        for_rows(around + 1, [&](int y, int z, int first, int end, const Place& row) {
            if (has_solid(row.cell[1], row.cell[2])) {
                for_cells(y, z, first, end, [&](const int(&local)[3], const Place& place) {
                    if (domain.solid(place.cell)) {
                        plan.links_.solid_cells.push_back({local[0], local[1], local[2]});
                    }
                });
            }
        });
        if (!is_any_cut) {
            plan.links_.link_weights = std::vector<boundary::LinearWeights>();  // with its memory
        }
    }

    /// A cell of the domain, or its image behind faces with free slip.
    struct Place {
        int cell[3];
        bool mirrored[3];  // by axes

        bool is_image() const { return mirrored[0] || mirrored[1] || mirrored[2]; }
        /// The velocity of the cell that is velocity i of the image.
        int velocity(int i) const {
            for (int a = 0; a < S::D; ++a) {
                i = mirrored[a] ? Stencil<S>::mirror(i, a) : i;
            }
            return i;
        }
    };

    bool is_mirror(int face) const { return domain.faces[face] == face_kind<boundary::FreeSlip>; }

    /// Calls visit(y, z, first x, end, place) for the rows of the block and so many cells beside it: not those behind
    /// walls, and along the last axis not those behind free slip, as sweeps have no such layers. Rows that follow
    /// themselves have no cells beside them. The place is that of the row's cell of x = 0.
    template <class Visit>
    void for_rows(int beside, Visit&& visit) const {
        const int around_x = address.self_periodic[0] ? 0 : beside, around_z = S::D == 3 ? beside : 0;
        for (int z = -around_z; z < size[2] + around_z; ++z) {
            for (int y = -beside; y < size[1] + beside; ++y) {
                Place row{{0, y, z}, {}};
                if (find(row)) {
                    visit(y, z, -around_x, size[0] + around_x, row);
                }
            }
        }
    }
    /// Calls visit(position in the block, place) for cells of a row, but those behind walls.
    template <class Visit>
    void for_cells(int y, int z, int first, int end, Visit&& visit) const {
        for (int x = first; x < end; ++x) {
            const int local[3] = {x, y, z};
            Place place{{x, y, z}, {}};
            if (find(place)) {
                visit(local, place);
            }
        }
    }

    void find_solid_rows() {
        const auto length = std::size_t(domain.known.size[0]);
        solid_rows.assign(domain.owner.size() / std::max(length, std::size_t{1}), false);
        for (std::size_t row = 0; row < solid_rows.size(); ++row) {
            const auto first = domain.owner.begin() + std::ptrdiff_t(row * length);
            solid_rows[row] =
                std::any_of(first, first + std::ptrdiff_t(length), [](auto body) { return body != no_body; });
        }
        walled_rows = solid_rows;
        for (const SheetWall& sheet : domain.sheets) {
            walled_rows[std::size_t(sheet.key / 27) / length] = true;
        }
    }
    /// Whether one of the listed rows is known to be this one of the domain.
    bool is_listed(const std::vector<bool>& rows, int y, int z) const {
        const Index first = rows.empty() ? -1 : domain.known_cell(domain.known.offset[0], y, z);
        return first >= 0 && rows[std::size_t(first / domain.known.size[0])];
    }
    /// Whether a row of the domain has solid cells.
    bool has_solid(int y, int z) const { return is_listed(solid_rows, y, z); }
    /// Whether a row is next to a face that is not periodic, or to solid cells, or has walls between fluid cells.
    bool is_near_walls(const Place& row) const {
        bool is_near = false;
        for (int face = 2; face < 2 * S::D; ++face) {
            const int last = face % 2 == 0 ? 0 : domain.size[face / 2] - 1;
            is_near = is_near || (row.cell[face / 2] == last && !is_periodic(domain.faces[face]));
        }
        for (int z = -1; z <= 1; ++z) {
            for (int y = -1; y <= 1; ++y) {
                is_near = is_near || is_listed(walled_rows, row.cell[1] + y, row.cell[2] + z);
            }
        }
        return is_near;
    }

    /// Turns a position in the block into a cell of the domain; false for one that no sweep has.
    bool find(Place& place) const {
        for (int a = 0; a < S::D; ++a) {
            const int n = domain.size[a];
            int& at = place.cell[a];
            at += placement.offset[a];
            while (at < 0 || at >= n) {
                const int face = 2 * a + (at < 0 ? 0 : 1);
                if (is_periodic(domain.faces[face])) {
                    at = (at % n + n) % n;
                } else if (is_mirror(face) && a != S::D - 1) {
                    at = face % 2 == 0 ? -1 - at : 2 * n - 1 - at;
                    place.mirrored[a] = !place.mirrored[a];
                } else {
                    return false;
                }
            }
        }
        return true;
    }

    bool is_of_block(const int (&local)[3]) const {
        bool inside = true;
        for (int a = 0; a < 3; ++a) {
            inside = inside && local[a] >= 0 && local[a] < size[a];
        }
        return inside;
    }

    void add(const int (&local)[3], const Place& place) {
        const int(&cell)[3] = place.cell;
        if (domain.solid(cell)) {
            return;
        }
        const int first = int(plan.links_.wall_links.size());
        bool is_cut = false;
        for (int i = 1; i < S::Q; ++i) {
            const int own = place.velocity(i);
            const LinkSource source = resolver.resolve(cell[0], cell[1], cell[2], own);
            if (source.kind == LinkSource::Kind::Face) {
                const Index at = domain.face_cell(source.owner, cell[0], cell[1], cell[2]);
                add_link(i, domain.faces[source.owner], {source.owner, -1, at, own, -1}, {0, 0, 1});
            } else if (source.kind == LinkSource::Kind::Body) {
                const CutLinks& cuts = domain.body_cuts[std::size_t(source.owner)];
                const CutWall wall = cut_wall<S>(domain, resolver, cell[0], cell[1], cell[2], own, source);
                const bool rests = domain.body_velocity[std::size_t(source.owner)].empty();
                const Index solid = domain.known_cell(source.x, source.y, source.z);
                add_link(i, rests ? face_kind<boundary::NoSlip> : face_kind<boundary::MovingWall>,
                         {-1, source.owner, solid, source.i, wall.cut}, wall.weights(cuts));
                is_cut = is_cut || wall.is_sheet || wall.distance != halfway;
                if (is_of_block(local) && !place.is_image()) {
                    add_body_link(local, cell, i, source, wall);
                }
            } else if (source.kind == LinkSource::Kind::Passed) {
                throw std::logic_error("a state of moments takes no condition that reads other cells");
            }
        }
        const int end = int(plan.links_.wall_links.size());
        bool needs_moments = false;
        for (int k = first; k < end; ++k) {
            with_condition(FaceKind(plan.links_.wall_links[std::size_t(k)].condition), [&](auto c) {
                if constexpr (boundary::has_formula<decltype(c)>) {
                    needs_moments = needs_moments || decltype(c)::needs_moments;
                }
            });
        }
        if (end > first) {
            plan.links_.wall_cells.push_back(
                {local[0], local[1], local[2], first, static_cast<unsigned char>(end - first), needs_moments, is_cut});
            is_any_cut = is_any_cut || is_cut;
        }
    }

    void add_link(int i, FaceKind kind, const ValueSource& source, const boundary::LinearWeights& weights) {
        plan.links_.wall_links.push_back({0, static_cast<unsigned char>(i), static_cast<unsigned char>(kind)});
        plan.links_.link_weights.push_back(weights);
        plan.value_sources_.push_back(source);
    }

    void add_body_link(const int (&local)[3], const int (&cell)[3], int i, const LinkSource& source,
                       const CutWall& wall) {
        const CutLinks& cuts = domain.body_cuts[std::size_t(source.owner)];
        backend::BodyLink link{local[0],
                               local[1],
                               local[2],
                               i,
                               {source.x, source.y, source.z},
                               source.i,
                               0,
                               {0, 0, 0},
                               wall.distance,
                               cuts.are_given,
                               wall.is_sheet,
                               static_cast<unsigned char>(cuts.scheme)};
        if (wall.distance != halfway) {
            const int from[3] = {wall.facing.x, wall.facing.y, wall.facing.z};
            for (int a = 0; a < 3; ++a) {
                const int to = cell[a] + S::c[i][a];
                const bool is_around = a < S::D && (to < 0 || to >= domain.size[a]) && is_periodic(domain.faces[2 * a]);
                link.streamed_at[a] = static_cast<signed char>(is_around ? S::c[i][a] : from[a] - cell[a]);
            }
            link.streamed_i = static_cast<unsigned char>(wall.facing.i);
        }
        plan.body_links_[std::size_t(source.owner)].push_back(link);
        if (cuts.are_given || cuts.count() > 0) {
            plan.cuts_of_links_[std::size_t(source.owner)].push_back(wall.cut);
        }
    }
};

void BoundaryHaloPlan::add_moment_walls(const Domain& domain, const BlockPlacement& placement, PlanOf part) {
    if (!placement.keeps_moments || part != PlanOf::Block) {
        return;
    }
    backend::with_stencil(domain.stencil, [&](auto s) {
        using S = decltype(s);
        if constexpr (!Stencil<S>::multispeed) {
            MomentWallLister<S>{*this, domain, placement}.list();
        }
    });
}

}  // namespace lbm::engine
