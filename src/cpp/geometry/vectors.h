// Lengths of vectors and boxes about them, on the host.
#pragma once

#include <algorithm>
#include <cmath>

#include "vec.h"

namespace lbm::geometry {

inline double length(const Vec& a) { return std::sqrt(dot(a, a)); }

/// An axis-aligned box; empty until a point is added.
struct Bounds {
    Vec low{{INFINITY, INFINITY, INFINITY}};
    Vec high{{-INFINITY, -INFINITY, -INFINITY}};

    void add(const Vec& p) {
        for (int k = 0; k < 3; ++k) {
            low[k] = std::min(low[k], p[k]);
            high[k] = std::max(high[k], p[k]);
        }
    }
    void add(const Bounds& other) {
        for (int k = 0; k < 3; ++k) {
            low[k] = std::min(low[k], other.low[k]);
            high[k] = std::max(high[k], other.high[k]);
        }
    }
};

}  // namespace lbm::geometry
