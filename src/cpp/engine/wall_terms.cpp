// Evaluates linear combinations of wall temperatures.
#include "wall_terms.h"

namespace lbm::engine {

void WallTerms::add(const std::vector<Term>& terms) {
    terms_.insert(terms_.end(), terms.begin(), terms.end());
    ends_.push_back(terms_.size());
}

double WallTerms::value(std::size_t k, const Domain& domain) const {
    double sum = 0;
    for_terms(k, [&](const Term& term) {
        const bool face = term.face >= 0;
        const auto& values = face ? domain.face_temperature[term.face] : domain.body_temperature[term.body];
        const Index count = face ? domain.face_cells(term.face) : domain.known.cells();
        sum += term.factor * component(values, 1, 0, term.place, count);
    });
    return sum;
}

std::size_t WallTerms::bytes() const {
    return terms_.capacity() * sizeof(Term) + ends_.capacity() * sizeof(std::size_t);
}

}  // namespace lbm::engine
