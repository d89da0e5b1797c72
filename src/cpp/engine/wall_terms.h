// The temperatures of walls as they enter the numbers of a plan.
#pragma once

#include <cstddef>
#include <vector>

#include "domain.h"

namespace lbm::engine {

/// What the temperatures of walls add to the numbers of a plan: sums of terms, a sum for each number.
class WallTerms {
public:
    struct Term {
        int face;     // -1: a body
        int body;     // at cell `place` of the domain
        Index place;  // of the face
        double factor;
    };

    /// Adds the terms of one more number.
    void add(const std::vector<Term>& terms);
    /// Number k with the temperatures of now.
    double value(std::size_t k, const Domain& domain) const;

    std::size_t bytes() const;

private:
    std::vector<Term> terms_;
    std::vector<std::size_t> ends_;
};

}  // namespace lbm::engine
