// Expresses values of a boundary-and-halo plan as linear combinations of wall temperatures, so that changed wall
// temperatures need no new plan.
#pragma once

#include <cstddef>
#include <vector>

#include "domain.h"

namespace lbm::engine {

/// Numbers of a plan as linear combinations of wall temperatures: a sum of terms for each number.
class WallTerms {
public:
    /// A factor times the temperature of a face or a body at one place, or of a body where its surface cuts a link.
    struct Term {
        int face;     // -1: a body
        int body;     // used if face is -1
        Index place;  // index of a cell of the face, or of a solid cell of the domain
        double factor;
        bool is_of_link = false;  // of a body: `place` is one of its cut links, which have temperatures
    };

    /// Appends a number by its terms.
    void add(const std::vector<Term>& terms);
    /// Calls visit(term) for each term of number k.
    template <class Visit>
    void for_terms(std::size_t k, Visit&& visit) const {
        for (std::size_t t = k == 0 ? 0 : ends_[k - 1]; t < ends_[k]; ++t) {
            visit(terms_[t]);
        }
    }
    /// Number k for the present temperatures of the domain.
    double value(std::size_t k, const Domain& domain) const;

    /// The present temperature that a term multiplies.
    static double temperature(const Term& term, const Domain& domain);

    std::size_t bytes() const;

private:
    std::vector<Term> terms_;
    std::vector<std::size_t> ends_;
};

}  // namespace lbm::engine
