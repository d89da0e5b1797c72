// Sums over the populations of the cells of a row.
#pragma once

#include <vector>

#include "../lattice_view.h"

namespace lbm::cpu {

/// Adds f, then each component of c f, to the sums of the cells of a row: nx numbers for each of the 1 + D.
template <class S, class Real, class Stored>
void sum_row(const backend::LatticeView<S, Real, Stored>& view, int y, int z, std::vector<Real>& sums) {
    for (int i = 0; i < S::Q; ++i) {
        view.for_row(y, z, i, [&](int x, const Stored& stored) { sums[x] += from_storage<Real>(stored); });
        for (int d = 0; d < S::D; ++d) {
            Real* component = &sums[std::size_t(1 + d) * view.address.nx];
            if (S::c[i][d] > 0) {
                view.for_row(y, z, i, [&](int x, const Stored& f) { component[x] += from_storage<Real>(f); });
            } else if (S::c[i][d] < 0) {
                view.for_row(y, z, i, [&](int x, const Stored& f) { component[x] -= from_storage<Real>(f); });
            }
        }
    }
}

}  // namespace lbm::cpu
