// The density and the velocity of the cells of a row, for all that reads the fields of a block.
#pragma once

#include <vector>

#include "../../lattice/moments.h"
#include "../lattice_view.h"
#include "../wall_links.h"
#include "pack.h"
#include "row_after.h"

namespace lbm::cpu {

/// The force on the cells of a row: the same on all, or D rows of nx numbers.
template <class Real>
struct RowForce {
    Real uniform[3];
    const Real* rows;  // null if it is uniform
};

/// Returns the force on the cells of a row, of which `at(x, force)` sets that on one. Forces that differ are stored in
/// `rows`, which must outlive the result.
template <int D, class Real, class At>
RowForce<Real> force_on_row(int nx, bool is_same, At&& at, std::vector<Real>& rows) {
    double force[3] = {};
    if (is_same) {
        at(0, force);
        return {{Real(force[0]), Real(force[1]), Real(force[2])}, nullptr};
    }
    rows.resize(std::size_t(nx) * D);
    for (int x = 0; x < nx; ++x) {
        at(x, force);
        for (int d = 0; d < D; ++d) {
            rows[std::size_t(d) * nx + x] = Real(force[d]);
        }
    }
    return {{}, rows.data()};
}

/// Sets the density's deviation from 1 and the velocity of the cells of a row, in packs between its ends. In each cell
/// the operations are those of moments_after_collision() of wall_links.h, so that a cell alone has the same bits. The
/// view and the force are kept by reference. For stencils of nearest neighbours.
template <class S, class Real, class Stored>
class RowFlow {
public:
    RowFlow(const backend::LatticeView<S, Real, Stored>& view, int y, int z, const RowForce<Real>& force)
        : view_(view), y_(y), z_(z), force_(force) {
        const Address& a = view.address;
        to_next_ = row_after(a, y, z, 1) - a.row(y, z, 0);
        for (int i = 0; i < S::Q && a.nx > 2; ++i) {
            inner_[i] = view.data + post_collision_offset<S>(a, view.phase, 1, y, z, i) - 1;
        }
    }

    /// Sets 1 + D numbers of each cell: nx deviations, then nx numbers of each component of the velocity.
    void put(std::vector<Real>& out) const {
        const int nx = view_.address.nx;
        int x = 0;
        put_cell(x++, out);  // populations of cells at the ends of a row may have left through a face
        for (; x + W < nx; x += W) {
            put_pack(x, out);
        }
        for (; x < nx; ++x) {
            put_cell(x, out);
        }
    }

private:
    static constexpr int W = 16 / int(sizeof(Real));  // the vectors that every processor has
    using Values = Pack<Real, W>;

    LBM_FLATTEN void put_pack(int x, std::vector<Real>& out) const {
        Values f[S::Q];
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            f[i] = load_stored<Real, W>(inner_[i] + x) * Real(storage_unit<Stored>);
            __builtin_prefetch(inner_[i] + x + to_next_, 0, 2);
        });
        Values deviation, momentum[3];
        add_up<S>(f, deviation, momentum);
        const Values inertia = inertia_of_deviation(deviation, view_.compressibility);
        store_pack(&out[std::size_t(x)], deviation);
        for (int d = 0; d < S::D; ++d) {
            const Index nx = view_.address.nx;
            const Values force =
                force_.rows != nullptr ? load_pack<Real, W>(force_.rows + d * nx + x) : Values{} + force_.uniform[d];
            store_pack(&out[std::size_t((1 + d) * nx + x)], (momentum[d] - Real(0.5) * force) / inertia);
        }
    }

    void put_cell(int x, std::vector<Real>& out) const {
        const Index nx = view_.address.nx;
        double force[3] = {};
        for (int d = 0; d < S::D; ++d) {
            force[d] = double(force_.rows != nullptr ? force_.rows[d * nx + x] : force_.uniform[d]);
        }
        Real velocity[3];
        backend::moments_after_collision(view_.cell(x, y_, z_), force, out[std::size_t(x)], velocity);
        for (int d = 0; d < S::D; ++d) {
            out[std::size_t((1 + d) * nx + x)] = velocity[d];
        }
    }

    const backend::LatticeView<S, Real, Stored>& view_;
    int y_, z_;
    const RowForce<Real>& force_;
    const Stored* inner_[S::Q] = {};  // populations that left the cells between the ends, that of x at inner_[i][x]
    Index to_next_;                   // from this row to the one that is read next
};

}  // namespace lbm::cpu
