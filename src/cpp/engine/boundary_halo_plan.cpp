// Builds the boundary-and-halo plan of a block: copies as runs with constant strides, links with formulas by cell.
#include "boundary_halo_plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

#include "../lattice/links.h"
#include "../lattice/temperature.h"
#include "copy_runs.h"
#include "cut_distance.h"
#include "cut_link_lists.h"
#include "link_resolver.h"
#include "sponge_plan.h"

namespace lbm::engine {

using backend::BodyLink;
using backend::CopyRun;
using backend::WallCell;
using backend::WallLink;

template <class S>
struct BoundaryHaloPlan::Builder {
    /// A cell of the domain, given by the block that holds it and its position there.
    struct At {
        int block;
        int x, y, z;  // relative to the block's corner
    };
    /// A link with a formula, before links are grouped by cell.
    struct PendingWallLink {
        int x, y, z;
        WallLink link;
        ValueSource source;
        At from;  // the formula takes the post-collision population from_i of this cell
        int from_i;
    };

    BoundaryHaloPlan& plan;
    const Domain& domain;
    const std::vector<BlockPlacement>& blocks;
    const int own;
    const std::vector<Phase>& phases;
    const PlanOf part;
    const Address& address = blocks[std::size_t(own)].address;
    const int (&offset)[3] = blocks[std::size_t(own)].offset;
    LinkResolver<S> resolver{domain};
    std::vector<Import> imports =
        std::vector<Import>(blocks.size(), {0, backend::ByPhase<std::vector<CopyRun>>(phases)});  // by block
    std::vector<PendingWallLink> pending{};
    CutLinkLists<S, ValueSource> cut_lists{address, phases};
    std::vector<BoundaryPlan::Incoming> incoming{};
    BlockFinder holder{blocks, own};

    void build() {
        plan.links_.copies = backend::ByPhase<std::vector<CopyRun>>(phases);
        plan.links_.wall_offsets = backend::ByPhase<std::vector<backend::LinkOffsets>>(phases);
        for (int i = 1; i < S::Q; ++i) {
            through_x_faces(i);
            through_other_faces(i);
            if (!domain.owner.empty() && part == PlanOf::Block) {
                off_bodies(i);
            }
        }
        if (part == PlanOf::Block) {
            off_sheets();
        }
        group_wall_links();
        cut_lists.put_into(plan.links_, plan.cut_sources_, plan.sheet_sources_);
        add_boundary_cells();
        if (part == PlanOf::Block) {
            add_sponge_cells(domain, blocks[std::size_t(own)], plan.links_);
        }
        if (domain.is_hybrid_thermal) {
            add_temperatures();
        }
        if (blocks[std::size_t(own)].velocity.first != 0) {
            add_velocities();
        }
        for (auto& runs : plan.links_.copies) {
            cut_long_runs(runs);
        }
        for (std::size_t block = 0; block < blocks.size(); ++block) {
            Import& import = imports[block];
            bool any = false;
            for (auto& runs : import.copies) {
                cut_long_runs(runs);
                any = any || !runs.empty();
            }
            if (any) {
                import.from = int(block);
                plan.imports_.push_back(std::move(import));
            }
        }
    }

    /// Adds the links of cells whose upstream neighbour lies outside the block across x; runs go along y, as the x-face
    /// buffers do.
    void through_x_faces(int i) {
        const int cx = S::c[i][0];
        const auto [first, last] = upstream_outside(cx, address.nx);
        for (int x = first; x < last; ++x) {
            for (int z = 0; z < address.nz; ++z) {
                for (int y = 0; y < address.ny; ++y) {
                    add(x, y, z, i);
                }
            }
        }
    }

    /// Adds the links of cells whose upstream neighbour lies outside in y or z but not in x; runs go along x.
    void through_other_faces(int i) {
        const int x_first = std::max(0, S::c[i][0]);
        const int x_last = address.nx + std::min(0, S::c[i][0]);
        for (int z = 0; z < address.nz; ++z) {
            const bool z_outside = z - S::c[i][2] < 0 || z - S::c[i][2] >= address.nz;
            for (int y = 0; y < address.ny; ++y) {
                if (z_outside || y - S::c[i][1] < 0 || y - S::c[i][1] >= address.ny) {
                    for (int x = x_first; x < x_last; ++x) {
                        add(x, y, z, i);
                    }
                }
            }
        }
    }

    /// Adds the links of cells whose upstream neighbour lies inside the block and is solid.
    void off_bodies(int i) {
        const int* c = S::c[i];
        for (int z = std::max(0, c[2]); z < address.nz + std::min(0, c[2]); ++z) {
            for (int y = std::max(0, c[1]); y < address.ny + std::min(0, c[1]); ++y) {
                for (int x = std::max(0, c[0]); x < address.nx + std::min(0, c[0]); ++x) {
                    if (solid(x - c[0], y - c[1], z - c[2])) {
                        add(x, y, z, i);
                    }
                }
            }
        }
    }

    /// Adds the links between two cells inside the block that a sheet cuts.
    void off_sheets() {
        for (std::size_t k = 0; k < domain.sheets.size(); ++k) {
            if (k > 0 && domain.sheets[k].key == domain.sheets[k - 1].key) {
                continue;
            }
            domain.with_key(domain.sheets[k].key, [&](const int(&cell)[3], const int(&to)[3]) {
                int i = 0;
                bool inside = true;
                for (int velocity = 1; velocity < S::Q; ++velocity) {
                    const int* c = S::c[velocity];
                    i = c[0] == -to[0] && c[1] == -to[1] && c[2] == -to[2] ? velocity : i;
                }
                const int size[3] = {address.nx, address.ny, address.nz};
                for (int a = 0; a < 3; ++a) {
                    for (const int at : {cell[a] - offset[a], cell[a] - offset[a] + to[a]}) {
                        inside = inside && at >= 0 && at < size[a];
                    }
                }
                if (inside) {
                    add(cell[0] - offset[0], cell[1] - offset[1], cell[2] - offset[2], i);
                }
            });
        }
    }

    /// The range of coordinates among n whose upstream neighbour along c lies outside.
    static std::pair<int, int> upstream_outside(int c, int n) {
        return c > 0 ? std::pair{0, std::min(c, n)} : c < 0 ? std::pair{std::max(0, n + c), n} : std::pair{0, 0};
    }

    /// Whether a cell of the block is solid.
    bool solid(int x, int y, int z) const { return domain.solid(offset[0] + x, offset[1] + y, offset[2] + z); }
    /// Whether the link into a cell of the block may matter: what other blocks import from those of this process lies
    /// next to them, in known cells.
    bool matters(int x, int y, int z) const {
        return part == PlanOf::Block || domain.known_cell(offset[0] + x, offset[1] + y, offset[2] + z) >= 0;
    }

    /// Finds a cell of the domain.
    At at(int x, int y, int z) {
        const int cell[3] = {x, y, z};
        const int block = holder(cell);
        const BlockPlacement& placement = blocks[std::size_t(block)];
        return {block, x - placement.offset[0], y - placement.offset[1], z - placement.offset[2]};
    }

    /// Adds the link into a cell of the block with velocity i, unless the cell is solid.
    void add(int x, int y, int z, int i) {
        if (!matters(x, y, z) || solid(x, y, z)) {
            return;
        }
        const LinkSource source = resolver.resolve(offset[0] + x, offset[1] + y, offset[2] + z, i);
        switch (source.kind) {
            case LinkSource::Kind::Neighbor:
            case LinkSource::Kind::Copy: copy(x, y, z, i, at(source.x, source.y, source.z), source.i); return;
            case LinkSource::Kind::Passed: pass(x, y, z, i, source); return;
            case LinkSource::Kind::Face: reflect_by_face(x, y, z, i, source.owner); return;
            case LinkSource::Kind::Body: reflect_by_body(x, y, z, i, source); return;
        }
    }

    void copy(int x, int y, int z, int i, const At& from, int from_i) {
        for (const Phase phase : phases) {
            const Index target = post_streaming_offset<S>(address, phase, x, y, z, i);
            const Index source = post_collision_of(phase, from, from_i);
            if (from.block != own) {
                append(imports[std::size_t(from.block)].copies[phase], target, source);
            } else if (target != source) {  // along self-periodic axes both are the same place
                append(plan.links_.copies[phase], target, source);
            }
        }
    }

    /// The offset of a post-collision population in the lattice of the block that holds the cell.
    Index post_collision_of(Phase phase, const At& from, int i) const {
        return post_collision_offset<S>(blocks[std::size_t(from.block)].address, phase, from.x, from.y, from.z, i);
    }

    void reflect_by_face(int x, int y, int z, int i, int face) {
        with_condition(domain.faces[face], [&](auto c) {
            using Condition = decltype(c);
            if constexpr (boundary::has_formula<Condition>) {
                const Index place = domain.face_cell(face, offset[0] + x, offset[1] + y, offset[2] + z);
                add_reflection<Condition>(x, y, z, i, {face, -1, place, i, -1});
            } else if constexpr (boundary::has_cell_formula<Condition>) {
                incoming.push_back({x, y, z, face, i});
            } else {
                copy(x, y, z, i, {own, x, y, z}, Stencil<S>::opposite(i));
            }
        });
    }

    /// Adds a link whose formula takes the post-collision population of a cell inside the domain (outflow).
    void pass(int x, int y, int z, int i, const LinkSource& source) {
        const At from = at(source.x, source.y, source.z);
        const Index place = domain.face_cell(source.owner, offset[0] + x, offset[1] + y, offset[2] + z);
        pending.push_back(
            {x, y, z, link_of(i, domain.faces[source.owner]), {source.owner, -1, place, i, -1}, from, source.i});
    }

    void reflect_by_body(int x, int y, int z, int i, const LinkSource& source) {
        const int body = source.owner;
        const CutLinks& cuts = domain.body_cuts[std::size_t(body)];
        const Index solid_cell = domain.known_cell(source.x, source.y, source.z);
        const CutWall wall = cut_wall<S>(domain, resolver, offset[0] + x, offset[1] + y, offset[2] + z, i, source);
        const auto& [cut, distance, is_sheet, facing] = wall;
        plan.body_links_[body].push_back({x,
                                          y,
                                          z,
                                          i,
                                          {source.x, source.y, source.z},
                                          source.i,
                                          0,
                                          {0, 0, 0},
                                          distance,
                                          cuts.are_given,
                                          is_sheet,
                                          static_cast<unsigned char>(cuts.scheme)});
        if (cuts.are_given || cuts.count() > 0) {
            plan.cuts_of_links_[body].push_back(cut);
        }
        const ValueSource value{-1, body, solid_cell, source.i, cut};
        const boundary::LinearWeights weights = wall.weights(cuts);
        if (is_sheet && is_shared(x, y, z, i, source)) {
            cut_lists.add_side({x, y, z, i}, weights, source.i, value, distance == halfway);
            return;
        }
        if (distance == halfway && domain.body_velocity[body].empty()) {
            copy(x, y, z, i, {own, x, y, z}, Stencil<S>::opposite(i));
            return;
        }
        if (distance == halfway) {
            add_reflection<boundary::MovingWall>(x, y, z, i, value);
        } else {
            cut_lists.add({x, y, z, i}, weights, source.i, value);
        }
    }

    /// Whether a population that comes off a wall between two fluid cells has its place where the other cell has put
    /// its outgoing one, as within a block and along its self-periodic axes.
    bool is_shared(int x, int y, int z, int i, const LinkSource& source) {
        const At other = at(source.x, source.y, source.z);
        return other.block == own && post_collision_of(phases.front(), other, source.i) ==
                                         post_streaming_offset<S>(address, phases.front(), x, y, z, i);
    }

    template <class Condition>
    void add_reflection(int x, int y, int z, int i, const ValueSource& source) {
        const WallLink link = link_of(i, face_kind<Condition>);
        pending.push_back({x, y, z, link, source, {own, x, y, z}, Stencil<S>::opposite(i)});
    }

    static WallLink link_of(int i, FaceKind kind) {
        return {0, static_cast<unsigned char>(i), static_cast<unsigned char>(kind)};
    }

    void add_boundary_cells() {
        BoundaryPlan boundary(domain, blocks, own, std::move(incoming));
        for (const BoundaryPlan::Copy& copy : boundary.copies) {
            const BlockPlacement& from = blocks[std::size_t(copy.block)];
            for (const Phase phase : phases) {
                const auto element = [&](const Address& a, Index place) {
                    return a.numbers + phase_index(phase) * a.numbers_stride + place * from.number_elements;
                };
                for (int k = 0; k < copy.count * from.number_elements; ++k) {
                    append(imports[std::size_t(copy.block)].copies[phase], element(address, copy.target) + k,
                           element(from.address, copy.source) + k);
                }
            }
        }
        plan.links_.boundary_cells = std::move(boundary.cells);
        plan.links_.boundary_numbers = boundary.numbers;
        plan.boundary_places_ = std::move(boundary.places);
    }

    void add_temperatures() {
        plan.temperatures_ = TemperaturePlan(domain, blocks, own, part);
        for (const TemperaturePlan::Copy& copy : plan.temperatures_.copies) {
            const Address& there = blocks[std::size_t(copy.block)].address;
            for (const Phase phase : phases) {
                const Index target = temperature_offset(address, phase, copy.x, copy.y, copy.z);
                const Index source = temperature_offset(there, phase, copy.from[0], copy.from[1], copy.from[2]);
                auto& runs = copy.block == own ? plan.links_.copies : imports[std::size_t(copy.block)].copies;
                append(runs[phase], target, source);
            }
        }
        plan.temperatures_.copies = {};
        plan.links_.wall_temperatures = std::move(plan.temperatures_.wall_temperatures);
        plan.links_.thermal_cells = std::move(plan.temperatures_.thermal_cells);
        plan.links_.thermal_links = std::move(plan.temperatures_.thermal_links);
        plan.links_.thermal_terms = std::move(plan.temperatures_.thermal_terms);
    }

    void add_velocities() {
        plan.velocities_ = VelocityPlan(domain, blocks, own, part);
        for (int d = 0; d < S::D; ++d) {
            for (const VelocityPlan::Copy& copy : plan.velocities_.copies) {
                const BlockPlacement &here = blocks[std::size_t(own)], &there = blocks[std::size_t(copy.block)];
                const int(&from)[3] = copy.from;
                for (const Phase phase : phases) {
                    const Index target = here.velocity.offset(address, phase, d, copy.x, copy.y, copy.z);
                    const Index source = there.velocity.offset(there.address, phase, d, from[0], from[1], from[2]);
                    auto& runs = copy.block == own ? plan.links_.copies : imports[std::size_t(copy.block)].copies;
                    append(runs[phase], target, source);
                }
            }
        }
        plan.velocities_.copies = {};
        plan.links_.velocity_cells = std::move(plan.velocities_.cells);
        plan.links_.velocity_links = std::move(plan.velocities_.links);
    }

    void group_wall_links() {
        std::stable_sort(pending.begin(), pending.end(), [](const PendingWallLink& a, const PendingWallLink& b) {
            return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
        });
        for (std::size_t first = 0, last = 0; first < pending.size(); first = last) {
            const auto cell = [&](std::size_t k) { return std::tie(pending[k].x, pending[k].y, pending[k].z); };
            WallCell wall{
                pending[first].x, pending[first].y, pending[first].z, int(plan.links_.wall_links.size()), 0, false};
            for (; last < pending.size() && cell(last) == cell(first); ++last) {
                ++wall.count;
                with_condition(FaceKind(pending[last].link.condition), [&](auto c) {
                    if constexpr (boundary::has_formula<decltype(c)>) {
                        wall.needs_moments = wall.needs_moments || decltype(c)::needs_moments;
                    }
                });
                add_wall_link(pending[last]);
            }
            plan.links_.wall_cells.push_back(wall);
        }
    }

    void add_wall_link(const PendingWallLink& p) {
        plan.links_.wall_links.push_back(p.link);
        plan.value_sources_.push_back(p.source);
        for (const Phase phase : phases) {
            const Index incoming_at = post_streaming_offset<S>(address, phase, p.x, p.y, p.z, p.link.i);
            // A post-collision population of another block is imported to the place of the incoming one, where the
            // formula then replaces it.
            const Index outgoing_at = p.from.block == own ? post_collision_of(phase, p.from, p.from_i) : incoming_at;
            plan.links_.wall_offsets[phase].push_back({outgoing_at, incoming_at});
        }
        if (p.from.block != own) {
            copy(p.x, p.y, p.z, p.link.i, p.from, p.from_i);
        }
    }
};

BoundaryHaloPlan::BoundaryHaloPlan(const Domain& domain, const std::vector<BlockPlacement>& blocks, int own,
                                   const std::vector<Phase>& phases, PlanOf part)
    : body_links_(domain.body_velocity.size()), cuts_of_links_(domain.body_velocity.size()) {
    backend::with_stencil(domain.stencil, [&](auto s) {
        using S = decltype(s);
        if (blocks[std::size_t(own)].address.halo_x > 0) {
            take(LongRangePlan(domain, blocks, own), phases);
            add_moment_walls(domain, blocks[std::size_t(own)], part);
        } else if constexpr (!Stencil<S>::multispeed) {
            Builder<S>{*this, domain, blocks, own, phases, part}.build();
        }
    });
    if (part == PlanOf::Block) {
        refresh_values(domain);
    }
}

void BoundaryHaloPlan::take(LongRangePlan&& long_range, const std::vector<Phase>& phases) {
    using Copies = backend::ByPhase<std::vector<CopyRun>>;
    links_.copies = Copies(phases);
    links_.wall_offsets = backend::ByPhase<std::vector<backend::LinkOffsets>>(phases);
    links_.cut_places = backend::ByPhase<std::vector<backend::CutPlaces>>(phases);
    links_.sheet_places = backend::ByPhase<std::vector<backend::SheetPlaces>>(phases);
    for (auto& runs : links_.copies) {  // post-collision populations lie in their own cells in every phase
        runs = long_range.copies;
    }
    links_.wall_columns = std::move(long_range.columns);
    links_.wall_corners = std::move(long_range.corners);
    column_temperatures_ = std::move(long_range.temperatures);
    column_gradients_ = std::move(long_range.gradients);
    column_curvatures_ = std::move(long_range.curvatures);
    for (std::size_t block = 0; block < long_range.imports.size(); ++block) {
        if (!long_range.imports[block].empty()) {
            Import import{int(block), Copies(phases)};
            for (auto& runs : import.copies) {
                runs = long_range.imports[block];
            }
            imports_.push_back(std::move(import));
        }
    }
}

std::size_t BoundaryHaloPlan::bytes() const {
    std::size_t sum =
        links_.wall_cells.capacity() * sizeof(WallCell) + links_.wall_links.capacity() * sizeof(WallLink) +
        links_.cut_links.capacity() * sizeof(backend::CutLink) +
        links_.link_weights.capacity() * sizeof(boundary::LinearWeights) +
        links_.sheet_links.capacity() * sizeof(backend::SheetLink) +
        (value_sources_.capacity() + cut_sources_.capacity() + sheet_sources_.capacity()) * sizeof(ValueSource);
    sum += links_.boundary_cells.capacity() * sizeof(backend::BoundaryCell) +
           links_.scaled_values.capacity() * sizeof(backend::ScaledVector) +
           links_.scaled_numbers.capacity() * sizeof(backend::ScaledNumber) +
           links_.scaled_terms.capacity() * sizeof(backend::ScaledTerm) +
           links_.sponge_cells.capacity() * sizeof(backend::SpongeCell) +
           links_.sponge_layers.capacity() * sizeof(backend::SpongeLayer) + boundary_places_.capacity() * sizeof(Index);
    for (const auto& runs : links_.copies) {
        sum += runs.capacity() * sizeof(CopyRun);
    }
    for (const auto& places : links_.wall_offsets) {
        sum += places.capacity() * sizeof(backend::LinkOffsets);
    }
    for (const auto& places : links_.cut_places) {
        sum += places.capacity() * sizeof(backend::CutPlaces);
    }
    for (const auto& places : links_.sheet_places) {
        sum += places.capacity() * sizeof(backend::SheetPlaces);
    }
    for (const Import& import : imports_) {
        for (const auto& runs : import.copies) {
            sum += runs.capacity() * sizeof(CopyRun);
        }
    }
    for (std::size_t body = 0; body < body_links_.size(); ++body) {
        sum += body_links_[body].capacity() * sizeof(BodyLink) + cuts_of_links_[body].capacity() * sizeof(Index);
    }
    sum += column_temperatures_.bytes() + column_gradients_.bytes() + column_curvatures_.bytes() + velocities_.bytes();
    sum += links_.wall_columns.capacity() * sizeof(backend::WallColumn) +
           links_.wall_corners.capacity() * sizeof(backend::WallCorner) +
           links_.velocity_cells.capacity() * sizeof(backend::VelocityCell) +
           links_.velocity_links.capacity() * sizeof(backend::VelocityLink);
    return sum + temperatures_.bytes() + links_.wall_temperatures.capacity() * sizeof(backend::WallTemperature) +
           links_.thermal_cells.capacity() * sizeof(backend::ThermalCell) +
           links_.thermal_links.capacity() * sizeof(backend::ThermalLink) +
           links_.thermal_terms.capacity() * sizeof(backend::ThermalTerm);
}

}  // namespace lbm::engine
