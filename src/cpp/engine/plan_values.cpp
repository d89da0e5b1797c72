// The members of the boundary-and-halo plan that compute the values of its walls, inlets and outlets.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "boundary_halo_plan.h"

namespace lbm::engine {

using backend::BodyLink;
using backend::WallLink;

namespace {

const CutLinks no_cuts;

}  // namespace

template <class Condition>
boundary::Wall BoundaryHaloPlan::wall(const Domain& domain, const ValueSource& source) {
    const bool face = source.face >= 0;
    const auto& given = face ? domain.face_value[source.face] : domain.body_velocity[source.body];
    const Index count = face ? domain.face_cells(source.face) : domain.known.cells();
    const double reference = domain.reference_density;
    boundary::Wall wall{{0, 0, 0}, reference, inertia_of_density(reference, domain.compressibility)};
    if constexpr (Condition::value == boundary::Value::Velocity) {
        const auto& cuts = !face && source.cut >= 0 ? domain.body_cuts[std::size_t(source.body)] : no_cuts;
        for (int d = 0; d < domain.D; ++d) {
            wall.value[d] = cuts.velocity.empty() ? component(given, domain.D, d, source.place, count)
                                                  : component(cuts.velocity, domain.D, d, source.cut, cuts.count());
        }
    } else if constexpr (Condition::value == boundary::Value::Number) {
        wall.value[0] = given.empty() ? Condition::preset : component(given, 1, 0, source.place, count);
    }
    return wall;
}

double BoundaryHaloPlan::value(const Domain& domain, FaceKind kind, const ValueSource& source) {
    return backend::with_stencil(domain.stencil, [&](auto s) {
        using S = decltype(s);
        return with_condition(kind, [&](auto c) {
            using Condition = decltype(c);
            if constexpr (boundary::has_formula<Condition>) {
                return Condition::template link_value<S>(wall<Condition>(domain, source), source.off_wall);
            } else {
                throw std::logic_error(std::string(Condition::name) + " has no formula");
                return 0.0;
            }
        });
    });
}

void BoundaryHaloPlan::refresh_values(const Domain& domain) {
    for (std::size_t k = 0; k < value_sources_.size(); ++k) {
        WallLink& link = links_.wall_links[k];
        if (FaceKind(link.condition) != face_kind<boundary::NoSlip>) {  // a copy, with which only moments have links
            link.value = value(domain, FaceKind(link.condition), value_sources_[k]);
        }
    }
    for (std::size_t k = 0; k < cut_sources_.size(); ++k) {
        backend::CutLink& link = links_.cut_links[k];
        link.wall.value = link.momentum_weight * value(domain, face_kind<boundary::MovingWall>, cut_sources_[k]);
    }
    for (std::size_t k = 0; k < sheet_sources_.size(); ++k) {
        backend::CutLink& side = links_.sheet_links[k / 2].side[k % 2];
        side.wall.value = side.momentum_weight * value(domain, face_kind<boundary::MovingWall>, sheet_sources_[k]);
    }
    for (std::size_t k = 0; k < boundary_places_.size(); ++k) {
        backend::BoundaryCell& cell = links_.boundary_cells[k];
        with_condition(FaceKind(cell.condition), [&](auto c) {
            const boundary::Wall here = wall<decltype(c)>(domain, {cell.face, -1, boundary_places_[k], 0, -1});
            std::copy(here.value, here.value + 3, cell.value);
            cell.reference_density = here.reference_density;
        });
    }
    for (std::size_t body = 0; body < body_links_.size(); ++body) {
        for (std::size_t k = 0; k < body_links_[body].size(); ++k) {
            BodyLink& link = body_links_[body][k];
            const Index place = domain.known_cell(link.solid[0], link.solid[1], link.solid[2]);
            const ValueSource source{-1, int(body), place, link.off_solid,
                                     cuts_of_links_[body].empty() ? -1 : cuts_of_links_[body][k]};
            link.wall_momentum = value(domain, face_kind<boundary::MovingWall>, source);
            if (link.is_cut) {
                const boundary::Wall here = wall<boundary::MovingWall>(domain, source);
                std::copy(here.value, here.value + 3, link.velocity);
            }
        }
    }
    refresh_fields_at_walls(domain);
}

void BoundaryHaloPlan::refresh_fields_at_walls(const Domain& domain) {
    refresh_temperatures(domain);
    velocities_.refresh(domain, links_.velocity_links);
    const double cs2 = backend::with_stencil(domain.stencil, [](auto s) { return decltype(s)::cs2; });
    for (std::size_t k = 0; k < links_.wall_columns.size(); ++k) {
        MultispeedWall& wall = links_.wall_columns[k].wall;
        wall.theta = wall.isothermal ? column_temperatures_.value(k, domain) / cs2 - 1 : 0;
        wall.gradient = column_gradients_.value(k, domain) / cs2;
        wall.curvature = column_curvatures_.value(k, domain) / cs2;
    }
}

void BoundaryHaloPlan::refresh_temperatures(const Domain& domain) {
    for (std::size_t k = 0; k < links_.wall_temperatures.size(); ++k) {
        links_.wall_temperatures[k].value = temperatures_.wall_terms.value(k, domain);
    }
    for (std::size_t k = 0; k < links_.thermal_links.size(); ++k) {
        links_.thermal_links[k].value = temperatures_.link_values.value(k, domain);
    }
    for (auto* walls : {&temperatures_.face_heat, &temperatures_.body_heat}) {
        for (WallHeat& wall : *walls) {
            for (std::size_t k = 0; k < wall.samples.size(); ++k) {
                wall.samples[k].value = wall.values.value(k, domain);
            }
        }
    }
}

}  // namespace lbm::engine
