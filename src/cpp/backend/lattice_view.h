// Scalar access to the populations of a lattice between steps, whatever the streaming pattern: lattice/links.h gives
// the offsets.
#pragma once

#include "../lattice/links.h"
#include "../lattice/storage.h"

namespace lbm::backend {

/// The populations of one cell.
template <class S, class Real, class Stored>
struct CellView {
    Stored* data;
    CellOffsets<S> places;
    Real compressibility;  // 0 with the incompressible equilibrium (lattice/inertia.h)

    LBM_HD Real post_collision(int i) const { return from_storage<Real>(data[places.post_collision(i)]); }
    /// The incoming population of the next step; valid once boundaries and halos have been applied.
    LBM_HD Real post_streaming(int i) const { return from_storage<Real>(data[places.post_streaming(i)]); }
    LBM_HD void set_post_collision(int i, Real value) const {
        data[places.post_collision(i)] = Store<Stored>::from(value);
    }
    LBM_HD void set_post_streaming(int i, Real value) const {
        data[places.post_streaming(i)] = Store<Stored>::from(value);
    }
};

/// The populations of a lattice.
template <class S, class Real, class Stored>
struct LatticeView {
    Stored* data;
    Address address;
    Phase phase;               // of the last step
    Real compressibility = 1;  // as in CellView

    LBM_HD CellView<S, Real, Stored> cell(int x, int y, int z) const {
        return {data, {address, phase, x, y, z}, compressibility};
    }

    /// Visits the post-collision populations i of row (y, z): visit(x, reference to the stored number).
    template <class Visit>
    void for_row(int y, int z, int i, Visit&& visit) const {
        const int cx = S::c[i][0];
        const int first = cx < 0 ? -cx : 0;
        const int last = cx > 0 ? address.nx - cx : address.nx;
        for (int x = 0; x < first && x < address.nx; ++x) {
            visit(x, data[post_collision_offset<S>(address, phase, x, y, z, i)]);
        }
        if (first < last) {
            Stored* inner = data + post_collision_offset<S>(address, phase, first, y, z, i) - first;
            for (int x = first; x < last; ++x) {
                visit(x, inner[x]);
            }
        }
        for (int x = last > first ? last : first; x < address.nx; ++x) {
            visit(x, data[post_collision_offset<S>(address, phase, x, y, z, i)]);
        }
    }
};

}  // namespace lbm::backend
