// Lists the links of a block: copies as equally spaced runs, the rest by cell.
#include "halo_plan.h"

#include <algorithm>
#include <tuple>

#include "../lattice/links.h"
#include "link_resolver.h"

namespace lbm::engine {

using backend::BodyLink;
using backend::CopyRun;
using backend::WallCell;
using backend::WallLink;

namespace {

/// Appends a copy, lengthening the last run where it continues it.
void append(std::vector<CopyRun>& runs, Index target, Index source) {
    if (!runs.empty()) {
        CopyRun& run = runs.back();
        const Index target_step = target - (run.target + (run.count - 1) * run.target_stride);
        const Index source_step = source - (run.source + (run.count - 1) * run.source_stride);
        if (run.count == 1 && target_step > 0) {
            run.target_stride = target_step;
            run.source_stride = source_step;
            run.count = 2;
            return;
        }
        if (run.count > 1 && target_step == run.target_stride && source_step == run.source_stride) {
            ++run.count;
            return;
        }
    }
    runs.push_back({target, source, 1, 1, 1});
}

/// Long runs are cut, so that threads share them evenly.
void cut_long_runs(std::vector<CopyRun>& runs) {
    constexpr int longest = 1024;
    std::vector<CopyRun> cut;
    cut.reserve(runs.size());
    for (CopyRun run : runs) {
        while (run.count > longest) {
            CopyRun part = run;
            part.count = longest;
            cut.push_back(part);
            run.target += longest * run.target_stride;
            run.source += longest * run.source_stride;
            run.count -= longest;
        }
        cut.push_back(run);
    }
    runs = std::move(cut);
}

}  // namespace

template <class S>
struct HaloPlan::Builder {
    struct PendingWallLink {
        int x, y, z;
        WallLink link;
        ValueSource source;
        int from[3], from_i;  // what departed there is reflected, or passed on
    };

    HaloPlan& plan;
    const Domain& domain;
    const Address& address;
    const std::vector<Phase>& phases;
    LinkResolver<S> resolver{domain};
    std::vector<PendingWallLink> pending{};

    void build() {
        for (int i = 1; i < S::Q; ++i) {
            through_x_faces(i);
            through_other_faces(i);
            if (!domain.owner.empty()) {
                off_bodies(i);
            }
        }
        for (auto& runs : plan.links_.copies) {
            cut_long_runs(runs);
        }
        group_wall_links();
    }

    /// Cells whose upstream neighbour along x lies outside; runs go along y, as the side columns do.
    void through_x_faces(int i) {
        const int cx = S::c[i][0];
        const auto [first, last] = upstream_outside(cx, domain.size[0]);
        for (int x = first; x < last; ++x) {
            for (int z = 0; z < domain.size[2]; ++z) {
                for (int y = 0; y < domain.size[1]; ++y) {
                    add(x, y, z, i);
                }
            }
        }
    }

    /// Cells whose upstream neighbour lies outside in y or z but not in x; runs go along x.
    void through_other_faces(int i) {
        const int x_first = std::max(0, S::c[i][0]);
        const int x_last = domain.size[0] + std::min(0, S::c[i][0]);
        for (int z = 0; z < domain.size[2]; ++z) {
            const bool z_outside = z - S::c[i][2] < 0 || z - S::c[i][2] >= domain.size[2];
            for (int y = 0; y < domain.size[1]; ++y) {
                if (z_outside || y - S::c[i][1] < 0 || y - S::c[i][1] >= domain.size[1]) {
                    for (int x = x_first; x < x_last; ++x) {
                        add(x, y, z, i);
                    }
                }
            }
        }
    }

    /// Cells whose upstream neighbour lies inside and is solid.
    void off_bodies(int i) {
        const int* c = S::c[i];
        for (int z = std::max(0, c[2]); z < domain.size[2] + std::min(0, c[2]); ++z) {
            for (int y = std::max(0, c[1]); y < domain.size[1] + std::min(0, c[1]); ++y) {
                for (int x = std::max(0, c[0]); x < domain.size[0] + std::min(0, c[0]); ++x) {
                    if (domain.solid(domain.cell(x - c[0], y - c[1], z - c[2]))) {
                        add(x, y, z, i);
                    }
                }
            }
        }
    }

    static std::pair<int, int> upstream_outside(int c, int n) {
        return c > 0 ? std::pair{0, std::min(c, n)} : c < 0 ? std::pair{std::max(0, n + c), n} : std::pair{0, 0};
    }

    void add(int x, int y, int z, int i) {
        if (domain.solid(domain.cell(x, y, z))) {
            return;
        }
        const LinkSource source = resolver.resolve(x, y, z, i);
        switch (source.kind) {
            case LinkSource::Kind::Neighbor: return;
            case LinkSource::Kind::Copy: copy(x, y, z, i, source.x, source.y, source.z, source.i); return;
            case LinkSource::Kind::Outflow: pass_outflow(x, y, z, i, source); return;
            case LinkSource::Kind::Face: reflect_by_face(x, y, z, i, source.owner); return;
            case LinkSource::Kind::Body: reflect_by_body(x, y, z, i, source); return;
        }
    }

    void copy(int x, int y, int z, int i, int from_x, int from_y, int from_z, int from_i) {
        for (const Phase phase : phases) {
            const Index target = arriving_offset<S>(address, phase, x, y, z, i);
            const Index source = departed_offset<S>(address, phase, from_x, from_y, from_z, from_i);
            if (target != source) {  // along wrapped axes they are one
                append(plan.links_.copies[int(phase)], target, source);
            }
        }
    }

    void reflect_by_face(int x, int y, int z, int i, int face) {
        const FaceKind kind = domain.faces[face];
        if (kind == FaceKind::NoSlip) {
            copy(x, y, z, i, x, y, z, Stencil<S>::opposite(i));
            return;
        }
        const auto link_kind = kind == FaceKind::PressureOutlet  ? WallLink::Kind::Pressure
                               : kind == FaceKind::VelocityInlet ? WallLink::Kind::Inlet
                                                                 : WallLink::Kind::Wall;
        add_reflection(x, y, z, i, link_kind, {face, -1, domain.face_cell(face, x, y, z), i});
    }

    void pass_outflow(int x, int y, int z, int i, const LinkSource& source) {
        const WallLink link{0, static_cast<unsigned char>(i), WallLink::Kind::Outflow};
        pending.push_back({x, y, z, link, {-1, -1, 0, i}, {source.x, source.y, source.z}, source.i});
    }

    void reflect_by_body(int x, int y, int z, int i, const LinkSource& source) {
        const int body = source.owner;
        const Index place = domain.cell(source.x, source.y, source.z);
        plan.body_links_[body].push_back({x, y, z, i, {source.x, source.y, source.z}, source.i, 0});
        if (domain.body_velocity[body].empty()) {
            copy(x, y, z, i, x, y, z, Stencil<S>::opposite(i));
        } else {
            add_reflection(x, y, z, i, WallLink::Kind::Wall, {-1, body, place, source.i});
        }
    }

    void add_reflection(int x, int y, int z, int i, WallLink::Kind kind, const ValueSource& source) {
        const WallLink link{0, static_cast<unsigned char>(i), kind};
        pending.push_back({x, y, z, link, source, {x, y, z}, Stencil<S>::opposite(i)});
    }

    void group_wall_links() {
        std::stable_sort(pending.begin(), pending.end(), [](const PendingWallLink& a, const PendingWallLink& b) {
            return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
        });
        auto& cells = plan.links_.wall_cells;
        for (const PendingWallLink& p : pending) {
            if (cells.empty() || std::tie(cells.back().x, cells.back().y, cells.back().z) != std::tie(p.x, p.y, p.z)) {
                cells.push_back({p.x, p.y, p.z, int(plan.links_.wall_links.size()), 0, false});
            }
            ++cells.back().count;
            cells.back().needs_moments = cells.back().needs_moments || p.link.kind != WallLink::Kind::Wall;
            plan.links_.wall_links.push_back(p.link);
            for (const Phase phase : phases) {
                const Index departed = departed_offset<S>(address, phase, p.from[0], p.from[1], p.from[2], p.from_i);
                const Index arriving = arriving_offset<S>(address, phase, p.x, p.y, p.z, p.link.i);
                plan.links_.wall_places[int(phase)].push_back({departed, arriving});
            }
            plan.value_sources_.push_back(p.source);
        }
    }
};

HaloPlan::HaloPlan(const Domain& domain, const Address& address, const std::vector<Phase>& phases)
    : body_links_(domain.body_velocity.size()) {
    backend::with_stencil(domain.stencil, [&](auto s) {
        Builder<decltype(s)>{*this, domain, address, phases}.build();
    });
    refresh_values(domain);
}

double HaloPlan::value(const Domain& domain, const ValueSource& source) {
    if (source.face >= 0 && domain.faces[source.face] == FaceKind::PressureOutlet) {
        const auto& density = domain.face_density[source.face];
        return density.empty() ? 1 : component(density, 1, 0, source.place, domain.face_cells(source.face));
    }
    const bool face = source.face >= 0;
    if (!face && source.body < 0) {
        return domain.reference_density;
    }
    const auto& velocity = face ? domain.face_velocity[source.face] : domain.body_velocity[source.body];
    const Index count = face ? domain.face_cells(source.face) : domain.cells();
    return backend::with_stencil(domain.stencil, [&](auto s) {
        using S = decltype(s);
        double cu = 0;
        for (int d = 0; d < S::D; ++d) {
            cu += S::c[source.off_wall][d] * component(velocity, S::D, d, source.place, count);
        }
        const bool inlet = face && domain.faces[source.face] == FaceKind::VelocityInlet;
        return 2 * Stencil<S>::w(source.off_wall) * cu / Stencil<S>::cs2 * (inlet ? 1 : domain.reference_density);
    });
}

void HaloPlan::refresh_values(const Domain& domain) {
    for (std::size_t k = 0; k < value_sources_.size(); ++k) {
        WallLink& link = links_.wall_links[k];
        link.value = value(domain, value_sources_[k]);
    }
    for (std::size_t body = 0; body < body_links_.size(); ++body) {
        for (BodyLink& link : body_links_[body]) {
            const Index place = domain.cell(link.solid[0], link.solid[1], link.solid[2]);
            link.push = value(domain, {-1, int(body), place, link.off_solid});
        }
    }
}

std::size_t HaloPlan::bytes() const {
    std::size_t sum = links_.wall_cells.capacity() * sizeof(WallCell) +
                      links_.wall_links.capacity() * sizeof(WallLink) + value_sources_.capacity() * sizeof(ValueSource);
    for (int phase = 0; phase < 3; ++phase) {
        sum += links_.copies[phase].capacity() * sizeof(CopyRun);
        sum += links_.wall_places[phase].capacity() * sizeof(backend::LinkPlaces);
    }
    for (const auto& links : body_links_) {
        sum += links.capacity() * sizeof(BodyLink);
    }
    return sum;
}

}  // namespace lbm::engine
