// Boundary cells: cells at a face whose condition computes all populations that enter through the face at once, and the
// numbers that they keep from step to step.
#pragma once

#include "../lattice/sponge.h"
#include "row_end_columns.h"
#include "wall_links.h"

namespace lbm::backend {

/// Access to the numbers of boundary cells in one slot. They are of the arithmetic type, whatever the storage type, and
/// lie behind the populations in the lattice, so that the exchange between blocks copies them too.
template <class Real, class Stored>
class BoundaryNumbers {
public:
    BoundaryNumbers() = default;
    /// The numbers after a step of `phase`, in a lattice.
    LBM_HD BoundaryNumbers(Stored* lattice, const Address& address, Phase phase)
        : slot_(reinterpret_cast<char*>(lattice + address.numbers + phase_index(phase) * address.numbers_stride)) {}

    LBM_HD Real get(Index place) const {
        Real number;
        copy(slot_ + place * Index(sizeof(Real)), reinterpret_cast<char*>(&number));
        return number;
    }
    LBM_HD void put(Index place, Real number) const {
        copy(reinterpret_cast<const char*>(&number), slot_ + place * Index(sizeof(Real)));
    }

private:
    /// Copies bytes, since to the exchange these numbers are stored populations.
    LBM_HD static void copy(const char* from, char* to) {
#if defined(__CUDACC__)
        *reinterpret_cast<Real*>(to) = *reinterpret_cast<const Real*>(from);
#else
        __builtin_memcpy(to, from, sizeof(Real));
#endif
    }

    char* slot_;
};

/// What formulas of boundary cells know of the face and its values (lattice/boundary/condition.h): the argument `cell`
/// of one that replaces all populations.
template <class Real>
class BoundaryFaceView {
public:
    LBM_HD BoundaryFaceView(const BoundaryCell& cell, Real compressibility)
        : cell_(cell), compressibility_(compressibility) {}

    LBM_HD int axis() const { return cell_.face / 2; }
    LBM_HD int inward() const { return cell_.face % 2 == 0 ? 1 : -1; }
    LBM_HD Real value(int d) const { return Real(cell_.value[d]); }
    LBM_HD Real reference_density() const { return Real(cell_.reference_density); }
    LBM_HD Real compressibility() const { return compressibility_; }
    LBM_HD bool has_neighbor(int axis, int side) const { return (cell_.neighbors >> (2 * axis + side) & 1) != 0; }

protected:
    const BoundaryCell& cell_;

private:
    Real compressibility_;
};

/// The argument `cell` of the other formulas, which read the moments of so many cells.
template <class S, class Real, class Stored, int cells_read>
class BoundaryCellView : public BoundaryFaceView<Real> {
public:
    /// `force(x, y, z, F)` sets F to the force on a cell.
    template <class Force>
    LBM_HD BoundaryCellView(const LatticeView<S, Real, Stored>& lattice, const BoundaryCell& cell, Force&& force)
        : BoundaryCellView(lattice, cell) {
        set_moments(force, this->axis(), [&](int, const int(&at)[3], Real& deviation, Real(&momentum)[3]) {
            add_up_cell(lattice.cell(at[0], at[1], at[2]), deviation, momentum);
        });
    }

    LBM_HD const boundary::CellMoments<Real>& moments(int k) const { return moments_[k]; }
    LBM_HD Real post_collision(int i) const { return populations_.post_collision(i); }
    /// Whether the condition computes population i, and whether that of this or another face does.
    LBM_HD bool enters(int i) const { return (cell_.incoming >> i & 1U) != 0; }
    LBM_HD bool comes_in(int i) const { return (cell_.missing >> i & 1U) != 0; }
    LBM_HD Real streamed(int i) const { return populations_.post_streaming(i); }
    /// Chooses the place and not the number, so that the loads of all populations are under way together.
    LBM_HD Real known(int i) const {
        const CellOffsets<S>& places = populations_.places;
        return from_storage<Real>(populations_.data[comes_in(i) ? places.post_collision(i) : places.post_streaming(i)]);
    }
    LBM_HD Real stored(int k) const { return numbers_.get(cell_.numbers + k); }
    LBM_HD Real stored(int k, int axis, int side) const { return numbers_.get(cell_.neighbor_numbers[axis][side] + k); }

protected:
    using BoundaryFaceView<Real>::cell_;

    /// Without moments.
    LBM_HD BoundaryCellView(const LatticeView<S, Real, Stored>& lattice, const BoundaryCell& cell)
        : BoundaryFaceView<Real>(cell, lattice.compressibility),
          populations_(lattice.cell(cell.x, cell.y, cell.z)),
          numbers_(lattice.data, lattice.address, lattice.phase) {}

    /// Sets the moments from the sums(k, position, deviation, momentum) of the cell k cells inwards along the axis.
    template <class Force, class Sums>
    LBM_HD void set_moments(Force&& force, int axis, Sums&& sums) {
        int at[3] = {cell_.x, cell_.y, cell_.z};
        for (int k = 0; k < cells_read; ++k) {
            if (k > int(cell_.inwards)) {
                moments_[k] = moments_[k - 1];
                continue;
            }
            double f[3] = {};
            force(at[0], at[1], at[2], f);
            Real deviation, momentum[3];
            sums(k, at, deviation, momentum);
            moments_[k].compressibility = this->compressibility();
            set_cell_moments(moments_[k], deviation, momentum, f);
            at[axis] += this->inward();
        }
    }

private:
    CellView<S, Real, Stored> populations_;
    BoundaryNumbers<Real, Stored> numbers_;
    boundary::CellMoments<Real> moments_[cells_read + (cells_read == 0 ? 1 : 0)];
};

/// Calls visit(Type<Condition>{}) with the condition of a boundary cell.
template <class S, class Visit>
LBM_HD void with_condition_of(const BoundaryCell& cell, Visit&& visit) {
    for_types(boundary::Conditions{}, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        if constexpr (boundary::has_cell_formula<Condition> && !Stencil<S>::multispeed) {
            if (cell.condition == position_in<boundary::Conditions, Condition>) {
                visit(member);
            }
        }
    });
}

/// Computes the populations that enter a boundary cell through its face, of which `view` is the argument of the
/// formula, and stores its numbers after the next step in `next`. Calls visit(i, population) with each.
template <class Condition, class S, class View, class Real, class Stored, class Visit>
LBM_HD void complete_boundary_cell_of(const View& view, const BoundaryCell& cell,
                                      const BoundaryNumbers<Real, Stored>& next, Visit&& visit) {
    Real stored[Condition::stored > 0 ? Condition::stored : 1] = {};
    Real incoming[S::Q] = {};
    Condition::template complete<S>(view, stored, incoming);
    for (int k = 0; k < Condition::stored; ++k) {
        next.put(cell.numbers + k, stored[k]);
    }
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
        if (view.enters(i)) {
            visit(i, incoming[i]);
        }
    });
}

/// The same for any boundary cell; stores the populations in the lattice.
template <class S, class Real, class Stored, class Force>
LBM_HD void complete_boundary_cell(const LatticeView<S, Real, Stored>& lattice, const BoundaryCell& cell,
                                   const BoundaryNumbers<Real, Stored>& next, Force&& force) {
    with_condition_of<S>(cell, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        const BoundaryCellView<S, Real, Stored, Condition::cells_read> view(lattice, cell, force);
        const CellView<S, Real, Stored> populations = lattice.cell(cell.x, cell.y, cell.z);
        complete_boundary_cell_of<Condition, S>(
            view, cell, next, [&](int i, Real f) LBM_INLINE_LAMBDA { populations.set_post_streaming(i, f); });
    });
}
/// Whether the update takes all populations of a boundary cell from columns, where there are these (row_ends()).
LBM_HD bool is_replaced_in_update(const BoundaryCell& cell, int ends) {
    return cell.replaces && cell.is_plain && !cell.is_in_sponge && row_end(ends, cell.face).replaced;
}

/// Whether a boundary cell finds its incoming populations and moments in columns, if the last step has stored these.
LBM_HD bool is_in_columns(const BoundaryCell& cell, int ends) {
    return cell.is_plain && row_end(ends, cell.face).populations;
}

/// The same with columns of the cells at the ends of rows, which `view` reads if it is a PlainCellView
/// (cuda/kernels/plain_cells.h). Populations that are replaced go to columns at once, since those of a plain cell are
/// complete.
template <class Condition, class S, class View, class Real, class Stored>
LBM_HD void complete_boundary_cell_at_row_end(const View& view, const LatticeView<S, Real, Stored>& lattice,
                                              const BoundaryCell& cell, const BoundaryNumbers<Real, Stored>& next,
                                              const RowEndColumns<S, Real, Stored>& columns, int ends) {
    if constexpr (boundary::replaces_populations<Condition>) {
        if (is_replaced_in_update(cell, ends)) {
            Real f[S::Q];
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { f[i] = view.known(i); });
            complete_boundary_cell_of<Condition, S>(view, cell, next, [&](int i, Real incoming) LBM_INLINE_LAMBDA {
                f[i] = from_storage<Real>(Store<Stored>::from(incoming));
            });
            Condition::template replace<S>(view, f);
            static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
                columns.replaced(cell.face, i, cell.y, cell.z) = Store<Stored>::from(f[i]);
            });
            return;
        }
    }
    const CellView<S, Real, Stored> populations = lattice.cell(cell.x, cell.y, cell.z);
    complete_boundary_cell_of<Condition, S>(
        view, cell, next, [&](int i, Real f) LBM_INLINE_LAMBDA { populations.set_post_streaming(i, f); });
}

/// The same for any boundary cell, without a look into columns.
template <class S, class Real, class Stored, class Force>
LBM_HD void complete_boundary_cell(const LatticeView<S, Real, Stored>& lattice, const BoundaryCell& cell,
                                   const BoundaryNumbers<Real, Stored>& next, Force&& force,
                                   const RowEndColumns<S, Real, Stored>& columns, int ends) {
    with_condition_of<S>(cell, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        const BoundaryCellView<S, Real, Stored, Condition::cells_read> view(lattice, cell, force);
        complete_boundary_cell_at_row_end<Condition>(view, lattice, cell, next, columns, ends);
    });
}

/// Calls change(f) with the incoming populations of a cell, and stores them. Each has its place to itself, so that this
/// may be done for several cells in any order, once all populations are in place.
template <class S, class Real, class Stored, class Change>
LBM_HD void change_incoming(const CellView<S, Real, Stored>& cell, Change&& change) {
    Real f[S::Q];
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { f[i] = cell.post_streaming(i); });
    change(f);
    static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA { cell.set_post_streaming(i, f[i]); });
}

/// Replaces the populations of a boundary cell, if its condition does so.
template <class S, class Real, class Stored>
LBM_HD void change_cell(const LatticeView<S, Real, Stored>& lattice, const BoundaryCell& cell, const SpongeLayer*) {
    if (!cell.replaces) {
        return;
    }
    with_condition_of<S>(cell, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        if constexpr (boundary::replaces_populations<Condition>) {
            const BoundaryFaceView<Real> view(cell, lattice.compressibility);
            change_incoming(lattice.cell(cell.x, cell.y, cell.z),
                            [&](Real(&f)[S::Q]) { Condition::template replace<S>(view, f); });
        }
    });
}

/// Damps the incoming populations of a cell of a sponge, of which there are these layers.
template <class S, class Real, class Stored>
LBM_HD void change_cell(const LatticeView<S, Real, Stored>& lattice, const SpongeCell& cell,
                        const SpongeLayer* layers) {
    if constexpr (!Stencil<S>::multispeed) {
        const SpongeLayer layer = layers[cell.layer];
        SpongeRates<Real> rates{Real(layer.damping), Real(layer.pull), Real(layer.deviation), {}};
        for (int d = 0; d < S::D; ++d) {
            rates.velocity[d] = Real(layer.velocity[d]);
        }
        change_incoming(lattice.cell(cell.x, cell.y, cell.z),
                        [&](Real(&f)[S::Q]) { damp_in_sponge<S>(rates, lattice.compressibility, f); });
    }
}

/// Initialises the numbers of a boundary cell from a state that was set.
template <class S, class Real, class Stored, class Force>
LBM_HD void start_boundary_cell(const LatticeView<S, Real, Stored>& lattice, const BoundaryCell& cell, Force&& force) {
    with_condition_of<S>(cell, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        const BoundaryCellView<S, Real, Stored, Condition::cells_read> view(lattice, cell, force);
        Real stored[Condition::stored > 0 ? Condition::stored : 1] = {};
        Condition::template start<S>(view, stored);
        const BoundaryNumbers<Real, Stored> numbers(lattice.data, lattice.address, lattice.phase);
        for (int k = 0; k < Condition::stored; ++k) {
            numbers.put(cell.numbers + k, stored[k]);
        }
    });
}

}  // namespace lbm::backend
