// A step that only streams, in one of three layouts of memory: what a layout costs a machine, apart from all that a
// solver does beside it. Boxes are periodic along all axes.
#pragma once

#include "../lattice/address.h"
#include "../lattice/stencil.h"
#include "../lattice/type_list.h"

namespace lbm::backend {

struct PropagationBox {
    int nx, ny, nz;

    LBM_HD constexpr Index rows() const { return Index(ny) * nz; }
    LBM_HD constexpr Index cells() const { return rows() * nx; }
    /// The row of (y, z), which may lie behind a face.
    LBM_HD Index row(int y, int z) const { return Index(Address::wrapped(z, nz)) * ny + Address::wrapped(y, ny); }
};

/// The populations of a cell lie side by side: an array of structures.
struct CellByCell {
    static constexpr const char* name = "AoS";
    static constexpr bool keeps_rows = false;  // whether one population of the cells of a row is contiguous

    template <int Q>
    LBM_HD static constexpr Index offset(const PropagationBox& box, Index row, int x, int i) {
        return (row * box.nx + x) * Q + i;
    }
};

/// One population of all cells lies side by side: a structure of arrays.
struct PopulationByPopulation {
    static constexpr const char* name = "SoA";
    static constexpr bool keeps_rows = true;

    template <int Q>
    LBM_HD static constexpr Index offset(const PropagationBox& box, Index row, int x, int i) {
        return i * box.cells() + row * box.nx + x;
    }
};

/// One population of a row lies side by side, and the rows of all populations beside each other: as in Address.
struct RowByRow {
    static constexpr const char* name = "rows";
    static constexpr bool keeps_rows = true;

    template <int Q>
    LBM_HD static constexpr Index offset(const PropagationBox& box, Index row, int x, int i) {
        return (row * Q + i) * box.nx + x;
    }
};

using MemoryLayouts = TypeList<CellByCell, PopulationByPopulation, RowByRow>;

namespace detail {

/// Whether a layout has these distances from a cell to the next, from a row to the next, and from a population to the
/// next.
template <class Layout>
constexpr bool has_strides(Index cell, Index row, Index population) {
    constexpr PropagationBox box{5, 3, 2};
    const auto at = [&](Index r, int x, int i) { return Layout::template offset<4>(box, r, x, i); };
    return at(0, 0, 0) == 0 && at(0, 1, 0) == cell && at(1, 0, 0) == row && at(0, 0, 1) == population &&
           at(5, 4, 3) == 4 * cell + 5 * row + 3 * population;
}

static_assert(has_strides<CellByCell>(4, 20, 1));
static_assert(has_strides<PopulationByPopulation>(1, 5, 30));
static_assert(has_strides<RowByRow>(1, 20, 5));

}  // namespace detail

/// Brings each population of cell (x, y, z) from its upstream neighbour.
template <class S, class Layout, class T>
LBM_HD void propagate_cell(const T* from, T* to, const PropagationBox& box, int x, int y, int z) {
    T f[S::Q];
    static_for<S::Q>([&]<int i>() {
        constexpr int cx = S::c[i][0], cy = S::c[i][1], cz = S::c[i][2];
        f[i] = from[Layout::template offset<S::Q>(box, box.row(y - cy, z - cz), Address::wrapped(x - cx, box.nx), i)];
    });
    static_for<S::Q>([&]<int i>() { to[Layout::template offset<S::Q>(box, box.row(y, z), x, i)] = f[i]; });
}

}  // namespace lbm::backend
