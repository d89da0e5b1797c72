// Density and momentum of the cells at both ends of every row, which the update stores for the boundary conditions
// there.
//
// Inlets and outlets at the x-faces need the moments of one cell per row. The populations of these cells are as far
// apart as the rows: reading them for the links cost 6 % of a step on a GPU, storing their sums costs next to nothing.
#pragma once

#include "../lattice/address.h"

namespace lbm::backend {

/// An array of [face -x, +x][density's deviation, D components of the momentum][z][y], y fastest.
template <class Real>
struct EndSums {
    Real* numbers;  // null if the update does not store them

    static Index count(const Address& a, int D) { return Index(2 * (D + 1)) * a.nz * a.ny; }

    LBM_HD Index place(const Address& a, int D, int face, int k, int y, int z) const {
        return (Index(face * (D + 1) + k) * a.nz + z) * a.ny + y;
    }
    template <int D>
    LBM_HD void put(const Address& a, int face, int y, int z, Real deviation, const Real (&momentum)[3]) const {
        numbers[place(a, D, face, 0, y, z)] = deviation;
        for (int d = 0; d < D; ++d) {
            numbers[place(a, D, face, 1 + d, y, z)] = momentum[d];
        }
    }
    template <int D>
    LBM_HD void get(const Address& a, int face, int y, int z, Real& deviation, Real (&momentum)[3]) const {
        deviation = numbers[place(a, D, face, 0, y, z)];
        for (int d = 0; d < D; ++d) {
            momentum[d] = numbers[place(a, D, face, 1 + d, y, z)];
        }
    }
};

}  // namespace lbm::backend
