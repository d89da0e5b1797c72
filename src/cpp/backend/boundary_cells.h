// Boundary cells: cells at a face whose condition computes all populations that enter through the face at once, and the
// numbers that they keep from step to step.
#pragma once

#include "../lattice/sponge.h"
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
        : BoundaryFaceView<Real>(cell, lattice.compressibility),
          populations_(lattice.cell(cell.x, cell.y, cell.z)),
          numbers_(lattice.data, lattice.address, lattice.phase) {
        int at[3] = {cell.x, cell.y, cell.z};
        for (int k = 0; k < cells_read; ++k) {
            if (k > int(cell.inwards)) {
                moments_[k] = moments_[k - 1];
                continue;
            }
            double f[3] = {};
            force(at[0], at[1], at[2], f);
            Real deviation, momentum[3];
            add_up_cell(lattice.cell(at[0], at[1], at[2]), deviation, momentum);
            moments_[k].compressibility = this->compressibility();
            set_cell_moments(moments_[k], deviation, momentum, f);
            at[this->axis()] += this->inward();
        }
    }

    LBM_HD const boundary::CellMoments<Real>& moments(int k) const { return moments_[k]; }
    LBM_HD Real post_collision(int i) const { return populations_.post_collision(i); }
    LBM_HD bool comes_in(int i) const { return (cell_.missing >> i & 1U) != 0; }
    LBM_HD Real streamed(int i) const { return populations_.post_streaming(i); }
    /// Chooses the place and not the number, so that the loads of all populations are under way together.
    LBM_HD Real known(int i) const {
        const CellOffsets<S>& places = populations_.places;
        return from_storage<Real>(populations_.data[comes_in(i) ? places.post_collision(i) : places.post_streaming(i)]);
    }
    LBM_HD Real stored(int k) const { return numbers_.get(cell_.numbers + k); }
    LBM_HD Real stored(int k, int axis, int side) const { return numbers_.get(cell_.neighbor_numbers[axis][side] + k); }
    LBM_HD bool has_neighbor(int axis, int side) const { return (cell_.neighbors >> (2 * axis + side) & 1) != 0; }

private:
    using BoundaryFaceView<Real>::cell_;

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

/// Computes the populations that enter a boundary cell through its face, and stores its numbers after the next step in
/// `next`.
template <class S, class Real, class Stored, class Force>
LBM_HD void complete_boundary_cell(const LatticeView<S, Real, Stored>& lattice, const BoundaryCell& cell,
                                   const BoundaryNumbers<Real, Stored>& next, Force&& force) {
    with_condition_of<S>(cell, [&](auto member) LBM_INLINE_LAMBDA {
        using Condition = typename decltype(member)::type;
        const BoundaryCellView<S, Real, Stored, Condition::cells_read> view(lattice, cell, force);
        Real stored[Condition::stored > 0 ? Condition::stored : 1] = {};
        Real incoming[S::Q] = {};
        Condition::template complete<S>(view, stored, incoming);
        for (int k = 0; k < Condition::stored; ++k) {
            next.put(cell.numbers + k, stored[k]);
        }
        const CellView<S, Real, Stored> populations = lattice.cell(cell.x, cell.y, cell.z);
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            if ((cell.incoming >> i & 1U) != 0) {
                populations.set_post_streaming(i, incoming[i]);
            }
        });
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
