// The force on the cells of a block whose state is moments, in the steps of an update: uniform, or a field that covers
// the cells around the block too, which an update of several steps computes.
#pragma once

#include "../lattice/address.h"

namespace lbm::backend {

/// The steps of an update at most.
constexpr int most_moment_steps = 6;

/// Where the numbers of a force field lie: a row of each component for each (y, z), those of its components adjacent,
/// of the block's cells and of as many around them as its halo has. Rows have room for whole packs at both ends, and
/// before the first layer along the last axis there are as many as a sweep along it looks back.
struct MomentForceRows {
    static constexpr Index line = 16;  // numbers of the widest pack

    int nx, ny, nz;
    int around_x, around_y, around_z;  // cells beside the block on each side
    Index pitch;                       // from a component to the next one
    Index stride;                      // from a (y, z) to the next one
    Index lead;                        // numbers before the first layer

    MomentForceRows() = default;
    LBM_HD MomentForceRows(const Address& a, int D)
        : nx(a.nx),
          ny(a.ny),
          nz(a.nz),
          around_x(a.halo_x),
          around_y(a.halo_y),
          around_z(a.halo_z),
          pitch((a.nx + a.halo_x + line - 1) / line * line + 2 * line),
          stride(D * pitch),
          lead(D == 3 ? around_z * layer_stride() : around_y * stride) {}
    /// The place of the first component of the cell x = 0.
    LBM_HD Index row(int y, int z) const {
        return lead + (Index(z + around_z) * layer_rows() + y + around_y) * stride + line;
    }
    /// The place of the first number of a layer along z.
    LBM_HD Index first_of_layer(int z) const { return row(-around_y, z) - line; }
    LBM_HD Index layer_rows() const { return ny + 2 * around_y; }
    /// From a layer along z to the next one.
    LBM_HD Index layer_stride() const { return layer_rows() * stride; }
    LBM_HD Index numbers() const { return lead + (nz + 2 * around_z) * layer_stride(); }

    /// The cells with those around the block, along each axis, and all of them. A field as it is given has the numbers
    /// of these, x fastest.
    LBM_HD int cells_x() const { return nx + 2 * around_x; }
    LBM_HD int cells_y() const { return ny + 2 * around_y; }
    LBM_HD int cells_z() const { return nz + 2 * around_z; }
    LBM_HD Index cells() const { return Index(cells_x()) * cells_y() * cells_z(); }
    /// Puts the rows of a layer, which may lie around the block, of a field as it is given.
    template <class Number>
    void put_layer(int D, const double* field, int z, Number* to) const {
        for (int y = 0; y < cells_y(); ++y) {
            for (int d = 0; d < D; ++d) {
                const double* const from = field + ((Index(d) * cells_z() + z + around_z) * cells_y() + y) * cells_x();
                for (int x = 0; x < cells_x(); ++x) {
                    to[y * stride + d * pitch + line - around_x + x] = Number(from[x]);
                }
            }
        }
    }
};

/// The force as an update and readers take it. Numbers by step are first those of the step that has made the state,
/// then those of the steps to come.
template <class Number>
struct MomentForce {
    bool is_any;
    Number uniform[most_moment_steps + 1][3];  // by step, where there is no field
    double factor[most_moment_steps + 1];      // by step, of `part`
    const void* field;                         // null, or numbers of the arithmetic type
    const double* part;                        // null, or the field that is to be multiplied
    MomentForceRows rows;
};

}  // namespace lbm::backend
