// The temperature that the hybrid thermal model finds behind the surface of a body at a given distance.
#pragma once

namespace lbm {

/// Weights of three temperatures on a line - of the cell, of its neighbour away from the wall, and of the wall - in the
/// one that the cell finds at its solid neighbour.
struct BeyondWall {
    double cell, opposite, wall;
};

/// With the wall at a distance q from the cell, as a fraction of the link, the second difference along the line becomes
/// b [(T_opposite - T) + (T_wall - T) / q]. A number b = 2 / (1 + q) makes it exact for parabolas (Shortley & Weller,
/// J. Appl. Phys. 9 (1938) 334), but then the rate b (1 + 1 / q) of the cell grows without bound with small distances,
/// and an explicit step becomes unstable. Any b makes it exact for linear temperatures, which leaves the field an error
/// of second order (Gibou, Fedkiw, Cheng & Kang, J. Comput. Phys. 176 (2002) 205). So b is such that the rate is at
/// most 3, that of a half-way wall, which it is at q = 1/2. All weights of the second difference are then positive.
inline BeyondWall beyond_wall(double q) {
    if (q < 2.0 / 3) {
        return {-1, (2 * q - 1) / (1 + q), 3 / (1 + q)};
    }
    return {-2 * (1 - q) / q, (1 - q) / (1 + q), 2 / (q * (1 + q))};
}

}  // namespace lbm
