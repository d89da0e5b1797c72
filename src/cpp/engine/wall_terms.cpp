// Evaluates linear combinations of wall temperatures.
#include "wall_terms.h"

namespace lbm::engine {

void WallTerms::add(const std::vector<Term>& terms) {
    terms_.insert(terms_.end(), terms.begin(), terms.end());
    ends_.push_back(terms_.size());
}

double WallTerms::value(std::size_t k, const Domain& domain) const {
    double sum = 0;
    for_terms(k, [&](const Term& term) { sum += term.factor * temperature(term, domain); });
    return sum;
}

double WallTerms::temperature(const Term& term, const Domain& domain) {
    const bool face = term.face >= 0;
    const auto& values = face              ? domain.face_temperature[term.face]
                         : term.is_of_link ? domain.body_cuts[std::size_t(term.body)].temperature
                                           : domain.body_temperature[std::size_t(term.body)];
    return component(values, 1, 0, term.place, Index(values.size()));
}

std::size_t WallTerms::bytes() const {
    return terms_.capacity() * sizeof(Term) + ends_.capacity() * sizeof(std::size_t);
}

}  // namespace lbm::engine
