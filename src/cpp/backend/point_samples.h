// What is recorded of single cells between steps: which fields, and the numbers of a cell in a sample.
#pragma once

#include "../lattice/address.h"
#include "../lattice/portability.h"

namespace lbm::backend {

struct Cell {
    int x, y, z;
};

/// The fields that are recorded of each cell. A sample has them in this order, each component for all cells.
struct PointFields {
    bool density, velocity, temperature;
    double reference;  // added to the temperature

    LBM_HD int numbers(int D) const { return int(density) + (velocity ? D : 0) + int(temperature); }
};

/// Puts the numbers of cell k of `count` into a sample, rounded as the fields of the state are. Those of a solid cell
/// are a density of 1, and 0.
template <int D, class Real>
LBM_HD void put_point(const PointFields& fields, Index k, Index count, bool solid, Real deviation, const Real (&u)[3],
                      Real temperature, double* sample) {
    if (fields.density) {
        sample[k] = solid ? 1.0 : double(Real(1) + deviation);
        sample += count;
    }
    if (fields.velocity) {
        for (int d = 0; d < D; ++d, sample += count) {
            sample[k] = solid ? 0.0 : double(u[d]);
        }
    }
    if (fields.temperature) {
        sample[k] = solid ? 0.0 : double(Real(double(temperature) + fields.reference));
    }
}

}  // namespace lbm::backend
