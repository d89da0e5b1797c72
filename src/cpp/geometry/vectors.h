// Vectors of three doubles.
#pragma once

#include <algorithm>
#include <cmath>

namespace lbm::geometry {

struct Vec {
    double x[3];

    double operator[](int k) const { return x[k]; }
    double& operator[](int k) { return x[k]; }
};

inline Vec operator+(const Vec& a, const Vec& b) { return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}}; }
inline Vec operator-(const Vec& a, const Vec& b) { return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}}; }
inline Vec operator*(double s, const Vec& a) { return {{s * a[0], s * a[1], s * a[2]}}; }
inline double dot(const Vec& a, const Vec& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vec cross(const Vec& a, const Vec& b) {
    return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}
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
