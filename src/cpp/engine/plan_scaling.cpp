// The members of the boundary-and-halo plan for values that change in time by factors.
#include "../backend/scaled_values.h"
#include "boundary_halo_plan.h"

namespace lbm::engine {

void BoundaryHaloPlan::list_scaled_values(const Domain& domain) {
    links_.scaled_links.clear();
    links_.scaled_cells.clear();
    const double reference = domain.reference_density;
    const double inertia = inertia_of_density(reference, domain.compressibility);
    // The part of a face or body at a place, if that has one.
    const auto take = [&](const ScaledValue& given, int components, Index place, Index count, double(&part)[3]) {
        for (int d = 0; d < 3; ++d) {
            part[d] = d < components ? component(given.part, components, d, place, count) : 0;
        }
    };
    for (std::size_t k = 0; k < value_sources_.size(); ++k) {
        const ValueSource& source = value_sources_[k];
        const bool face = source.face >= 0;
        const ScaledValue& given =
            face ? domain.face_scaled[source.face] : domain.body_scaled[std::size_t(source.body)];
        if (given.series >= 0) {
            backend::ScaledLink scaled{{}, reference, inertia, int(k), given.series, source.off_wall};
            const Index count = face ? domain.face_cells(source.face) : domain.known.cells();
            take(given, face ? domain.components_of(source.face) : domain.D, source.place, count, scaled.part);
            links_.scaled_links.push_back(scaled);
        }
    }
    for (std::size_t k = 0; k < boundary_places_.size(); ++k) {
        const int face = links_.boundary_cells[k].face;
        const ScaledValue& given = domain.face_scaled[face];
        if (given.series >= 0) {
            backend::ScaledCell scaled{{}, int(k), given.series};
            take(given, domain.components_of(face), boundary_places_[k], domain.face_cells(face), scaled.part);
            links_.scaled_cells.push_back(scaled);
        }
    }
}

void BoundaryHaloPlan::scale(const Domain& domain, const double* factors) {
    backend::with_stencil(domain.stencil, [&](auto s) {
        for (const backend::ScaledLink& scaled : links_.scaled_links) {
            backend::scale_link<decltype(s)>(scaled, factors[scaled.series],
                                             links_.wall_links[std::size_t(scaled.link)]);
        }
    });
    for (const backend::ScaledCell& scaled : links_.scaled_cells) {
        backend::scale_cell(scaled, factors[scaled.series], links_.boundary_cells[std::size_t(scaled.cell)]);
    }
}

}  // namespace lbm::engine
