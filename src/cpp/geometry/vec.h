// Vectors of three doubles, for the compilers of the host and of GPUs.
#pragma once

#include "../lattice/portability.h"

namespace lbm::geometry {

struct Vec {
    double x[3];

    LBM_HD double operator[](int k) const { return x[k]; }
    LBM_HD double& operator[](int k) { return x[k]; }
};

LBM_HD Vec operator+(const Vec& a, const Vec& b) { return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}}; }
LBM_HD Vec operator-(const Vec& a, const Vec& b) { return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}}; }
LBM_HD Vec operator*(double s, const Vec& a) { return {{s * a[0], s * a[1], s * a[2]}}; }
LBM_HD double dot(const Vec& a, const Vec& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
LBM_HD Vec cross(const Vec& a, const Vec& b) {
    return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

/// One of three by a number that is known at run time: what an index would have a GPU keep in its memory.
template <class T>
LBM_HD T chosen(const T (&of)[3], int k) {
    return k == 0 ? of[0] : k == 1 ? of[1] : of[2];
}

}  // namespace lbm::geometry
