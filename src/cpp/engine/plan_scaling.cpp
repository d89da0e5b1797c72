// Values that change in time by factors, and the members of the boundary-and-halo plan for them.
#include <algorithm>

#include "../backend/scaled_values.h"
#include "boundary_halo_plan.h"

namespace lbm::engine {

void ScaledValue::set(std::vector<double>& values, const double* factors, double offset) const {
    if (!has_numbers()) {
        values.resize(part.size());
        std::transform(part.begin(), part.end(), values.begin(),
                       [offset, factor = factors[series]](double p) { return p * factor - offset; });
        return;
    }
    const double* own = factors + series;
    if (places.empty()) {
        values.assign(own, own + numbers);
        return;
    }
    const std::size_t components = std::size_t(numbers) / places.size(), count = values.size() / components;
    for (std::size_t d = 0; d < components; ++d) {
        for (const Index place : places) {
            values[d * count + std::size_t(place)] = *own++;
        }
    }
}

backend::ScaledVector ScaledValue::at(int components, Index place, Index count) const {
    backend::ScaledVector found{{}, components, series, 0};
    if (!has_numbers()) {
        for (int d = 0; d < components; ++d) {
            found.part[d] = component(part, components, d, place, count);
        }
        return found;
    }
    std::fill(found.part, found.part + components, 1.0);
    found.stride = int(numbers / components);
    const auto at = std::lower_bound(places.begin(), places.end(), place);
    found.series += int(places.empty() ? place : at - places.begin());
    return found;
}

void BoundaryHaloPlan::list_scaled_values(const Domain& domain) {
    links_.scaled_links.clear();
    links_.scaled_cells.clear();
    const double reference = domain.reference_density;
    const double inertia = inertia_of_density(reference, domain.compressibility);
    for (std::size_t k = 0; k < value_sources_.size(); ++k) {
        const ValueSource& source = value_sources_[k];
        const bool face = source.face >= 0;
        const CutLinks* cuts = face || source.cut < 0 ? nullptr : &domain.body_cuts[std::size_t(source.body)];
        const bool of_link = cuts != nullptr && !cuts->velocity.empty();
        const ScaledValue& given = face      ? domain.face_scaled[source.face]
                                   : of_link ? cuts->scaled
                                             : domain.body_scaled[std::size_t(source.body)];
        if (given.series >= 0) {
            const Index count = face ? domain.face_cells(source.face) : of_link ? cuts->count() : domain.known.cells();
            const int components = face ? domain.components_of(source.face) : domain.D;
            links_.scaled_links.push_back({given.at(components, of_link ? source.cut : source.place, count), reference,
                                           inertia, int(k), source.off_wall});
        }
    }
    for (std::size_t k = 0; k < boundary_places_.size(); ++k) {
        const int face = links_.boundary_cells[k].face;
        const ScaledValue& given = domain.face_scaled[face];
        if (given.series >= 0) {
            links_.scaled_cells.push_back(
                {given.at(domain.components_of(face), boundary_places_[k], domain.face_cells(face)), int(k)});
        }
    }
}

void BoundaryHaloPlan::scale(const Domain& domain, const double* factors) {
    backend::with_stencil(domain.stencil, [&](auto s) {
        for (const backend::ScaledLink& scaled : links_.scaled_links) {
            backend::scale_link<decltype(s)>(scaled, factors, links_.wall_links[std::size_t(scaled.link)]);
        }
    });
    for (const backend::ScaledCell& scaled : links_.scaled_cells) {
        backend::scale_cell(scaled, factors, links_.boundary_cells[std::size_t(scaled.cell)]);
    }
}

}  // namespace lbm::engine
