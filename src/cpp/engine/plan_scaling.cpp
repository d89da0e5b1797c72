// Values that change in time by factors, and the members of the boundary-and-halo plan for them.
#include <algorithm>
#include <map>

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

namespace {

bool are_equal(const backend::ScaledVector& a, const backend::ScaledVector& b) {
    return std::equal(a.part, a.part + 3, b.part) && a.components == b.components && a.series == b.series &&
           a.stride == b.stride;
}

/// Adds values to a list. What is alike in neighbouring places of a wall is there once.
class ScaledList {
public:
    explicit ScaledList(std::vector<backend::ScaledVector>& values) : values_(values) {}

    int add(const ScaledValue& given, const backend::ScaledVector& value) {
        int& last = last_.try_emplace(&given, -1).first->second;
        if (last < 0 || !are_equal(values_[std::size_t(last)], value)) {
            last = int(values_.size());
            values_.push_back(value);
        }
        return last;
    }

private:
    std::vector<backend::ScaledVector>& values_;
    std::map<const ScaledValue*, int> last_;  // the index of the last one of each
};

}  // namespace

void BoundaryHaloPlan::list_scaled_values(const Domain& domain, const std::vector<ScaledField>& fields) {
    links_.scaled_values.clear();
    links_.reference_density = domain.reference_density;
    links_.wall_inertia = inertia_of_density(domain.reference_density, domain.compressibility);
    ScaledList list(links_.scaled_values);
    const auto set = [&](auto& link, const ValueSource& source) {
        const bool face = source.face >= 0;
        const CutLinks* cuts = face || source.cut < 0 ? nullptr : &domain.body_cuts[std::size_t(source.body)];
        const bool of_link = cuts != nullptr && !cuts->velocity.empty();
        const ScaledValue& given = face      ? domain.face_scaled[source.face]
                                   : of_link ? cuts->scaled
                                             : domain.body_scaled[std::size_t(source.body)];
        link.off_wall = static_cast<unsigned char>(source.off_wall);
        link.scaled = -1;
        if (given.series >= 0) {
            const Index count = face ? domain.face_cells(source.face) : of_link ? cuts->count() : domain.known.cells();
            const int components = face ? domain.components_of(source.face) : domain.D;
            link.scaled = list.add(given, given.at(components, of_link ? source.cut : source.place, count));
        }
    };
    for (std::size_t k = 0; k < value_sources_.size(); ++k) {
        set(links_.wall_links[k], value_sources_[k]);
    }
    for (std::size_t k = 0; k < cut_sources_.size(); ++k) {
        set(links_.cut_links[k], cut_sources_[k]);
    }
    for (std::size_t k = 0; k < sheet_sources_.size(); ++k) {
        set(links_.sheet_links[k / 2].side[k % 2], sheet_sources_[k]);
    }
    for (std::size_t k = 0; k < boundary_places_.size(); ++k) {
        backend::BoundaryCell& cell = links_.boundary_cells[k];
        const ScaledValue& given = domain.face_scaled[cell.face];
        cell.scaled = -1;
        if (given.series >= 0) {
            const Index count = domain.face_cells(cell.face);
            cell.scaled = list.add(given, given.at(domain.components_of(cell.face), boundary_places_[k], count));
        }
    }
    list_scaled_numbers(domain, fields);
}

void BoundaryHaloPlan::list_scaled_numbers(const Domain& domain, const std::vector<ScaledField>& fields) {
    using Of = backend::ScaledNumber::Of;
    std::vector<backend::ScaledTerm>& terms = links_.scaled_terms;
    links_.scaled_numbers.clear();
    terms.clear();
    const auto scaled = [&](const WallTerms::Term& term) -> backend::ScaledTerm {
        const bool face = term.face >= 0;
        const Index count = face              ? domain.face_cells(term.face)
                            : term.is_of_link ? domain.body_cuts[std::size_t(term.body)].count()
                                              : domain.known.cells();
        for (const ScaledField& field : fields) {
            const auto of = face              ? ScaledField::Of::FaceTemperature
                            : term.is_of_link ? ScaledField::Of::LinkTemperature
                                              : ScaledField::Of::BodyTemperature;
            const bool is_its = field.of == of && field.index == (face ? term.face : term.body);
            if (is_its && field.value.changes(term.place)) {
                const backend::ScaledVector value = field.value.at(1, term.place, count);
                return {term.factor, value.part[0], field.value.has_numbers() ? 0 : field.offset, value.series};
            }
        }
        return {term.factor, WallTerms::temperature(term, domain), 0, -1};
    };
    const auto add = [&](Of of, const WallTerms& from, std::size_t k, double divisor, double less) {
        const std::size_t first = terms.size();
        bool changes = false;
        from.for_terms(k, [&](const WallTerms::Term& term) {
            terms.push_back(scaled(term));
            changes = changes || terms.back().series >= 0;
        });
        if (changes) {
            links_.scaled_numbers.push_back({of, int(k), 0, int(first), int(terms.size() - first), 0, divisor, less});
        } else {
            terms.resize(first);
        }
    };
    for (std::size_t k = 0; k < links_.wall_temperatures.size(); ++k) {
        add(Of::WallTemperature, temperatures_.wall_terms, k, 1, 0);
    }
    for (std::size_t k = 0; k < links_.thermal_links.size(); ++k) {
        add(Of::ThermalLink, temperatures_.link_values, k, 1, 0);
    }
    const double cs2 = backend::with_stencil(domain.stencil, [](auto s) { return decltype(s)::cs2; });
    for (std::size_t k = 0; k < links_.wall_columns.size(); ++k) {
        if (links_.wall_columns[k].wall.isothermal) {
            add(Of::ColumnTemperature, column_temperatures_, k, cs2, 1);
        }
        add(Of::ColumnGradient, column_gradients_, k, cs2, 0);
        add(Of::ColumnCurvature, column_curvatures_, k, cs2, 0);
    }
    velocities_.list_scaled(domain, links_);
}

}  // namespace lbm::engine
