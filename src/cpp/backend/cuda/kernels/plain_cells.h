// Plain boundary cells: those at the ends of rows that find all they read in columns. They are most of the cells at a
// face across x.
//
// Their formulas are compiled for each of the two faces. The direction of the normal is then a constant, which leaves a
// third of the instructions: a thread runs through them once, so that they come from memory, and it is that which takes
// the time.
#pragma once

#include "../../boundary_cells.h"

namespace lbm::cuda {

/// The argument `cell` of the formulas of a plain cell at the face -x (0) or +x (1).
template <class S, class Real, class Stored, int cells_read, int face>
class PlainCellView : public backend::BoundaryCellView<S, Real, Stored, cells_read> {
public:
    using Columns = backend::RowEndColumns<S, Real, Stored>;

    template <class Force>
    __device__ PlainCellView(const backend::LatticeView<S, Real, Stored>& lattice, const backend::BoundaryCell& cell,
                             Force&& force, const Columns& columns)
        : backend::BoundaryCellView<S, Real, Stored, cells_read>(lattice, cell),
          address_(lattice.address),
          columns_(columns) {
        this->set_moments(force, 0, [&](int k, const int(&)[3], Real& deviation, Real(&momentum)[3]) {
            columns.get_sums(face, k, cell.y, cell.z, deviation, momentum);
        });
    }

    __device__ static constexpr int axis() { return 0; }
    __device__ static constexpr int inward() { return face == 0 ? 1 : -1; }
    __device__ static constexpr bool enters(int i) { return inward() * Stencil<S>::component(i, 0) > 0; }
    __device__ static constexpr bool comes_in(int i) { return enters(i); }
    __device__ Real streamed(int i) const {
        const int y = cell_.y - Stencil<S>::component(i, 1), z = cell_.z - Stencil<S>::component(i, 2);
        return columns_.population(face, i, Address::wrapped(y, address_.ny), Address::wrapped(z, address_.nz));
    }
    __device__ Real known(int i) const { return enters(i) ? this->post_collision(i) : streamed(i); }

private:
    using backend::BoundaryFaceView<Real>::cell_;

    const Address& address_;
    const Columns& columns_;
};

/// Completes a cell that is_in_columns().
template <class S, class Real, class Stored, class Force>
__device__ void complete_plain_cell(const backend::LatticeView<S, Real, Stored>& lattice,
                                    const backend::BoundaryCell& cell,
                                    const backend::BoundaryNumbers<Real, Stored>& next, Force&& force,
                                    const backend::RowEndColumns<S, Real, Stored>& columns, int ends) {
    backend::with_condition_of<S>(cell, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        const auto complete_at = [&]<int face>() LBM_INLINE_LAMBDA {
            const PlainCellView<S, Real, Stored, Condition::cells_read, face> view(lattice, cell, force, columns);
            backend::complete_boundary_cell_at_row_end<Condition>(view, lattice, cell, next, columns, ends);
        };
        if (cell.face == 0) {
            complete_at.template operator()<0>();
        } else {
            complete_at.template operator()<1>();
        }
    });
}

}  // namespace lbm::cuda
