// An array in a GPU's memory that a user gives as a field, and the rows of a box that are read of it.
#pragma once

#include "../lattice/portability.h"

namespace lbm::backend {

/// An array of another library: numbers of 4 or 8 bytes at any strides, for each component those of a box of the
/// domain's cells. A cell beyond an end of the array is the one at the other end, as the domain goes on through
/// periodic faces where the array is of all of it.
struct GpuArray {
    const char* data;
    int ordinal;               // of the GPU
    int item;                  // bytes of a number
    int components;            // 0: one number a cell, without an axis of components
    int size[3];               // cells along each axis
    Index strides[3];          // bytes from a cell to the next along each axis
    Index component_stride;    // bytes
    int first[3] = {0, 0, 0};  // the domain's cell that is the first of the array
    double reference = 0;      // that is subtracted from each number

    LBM_HD Index offset(int component, int x, int y, int z) const {
        const int at[3] = {x, y, z};
        Index bytes = component * component_stride;
        for (int a = 0; a < 3; ++a) {
            const int index = (at[a] - first[a]) % size[a];
            bytes += (index < 0 ? index + size[a] : index) * strides[a];
        }
        return bytes;
    }
};

/// The rows first_row to last_row - 1, row = z ny + y, of a box of nx x ny cells a layer.
struct BoxRows {
    int corner[3];  // the domain's cell that is the first of the box
    int nx, ny;
    Index first_row, last_row;

    LBM_HD Index count() const { return (last_row - first_row) * nx; }
};

}  // namespace lbm::backend
