// Columns of the cells at both ends of rows, gathered behind a block's lattice for blocks on other GPUs.
//
// Numbers at the ends of rows lie as far apart as the rows, each in a memory page of few others. Another GPU reads them
// there slowly: through an interprocess mapping, D2Q37 cut across x ran at a third of its speed. So their own GPU
// gathers them, and the others read them contiguously.
#pragma once

#include "../lattice/address.h"

namespace lbm::backend {

/// An array of [slot][column][row], for the first `depth` and the last `depth` cells of all rows, halo rows included. A
/// slot is a population, or a temperature of one phase.
struct EndColumns {
    Index first = 0;  // offset in the lattice
    int depth = 0;    // 0: nothing is gathered
    int slots = 0;

    static Index rows(const Address& a) { return Index(a.ny + 2 * a.halo_y) * (a.nz + 2 * a.halo_z); }
    Index count(const Address& a) const { return Index(slots) * 2 * depth * rows(a); }

    /// The place of a number of the lattice; -1 if it has none. The same number of the next row has the next place.
    Index place(const Address& a, Index source) const {
        const Index row = (source - a.lead) / a.row_stride;
        if (depth == 0 || source < a.lead || row >= rows(a)) {
            return -1;
        }
        const Index at = (source - a.lead) % a.row_stride - a.temperature;
        const Index stride = a.temperature == 0 ? a.population_stride : a.temperature_stride;
        const Index slot = at / stride, x = at % stride;
        if (at < 0 || slot >= slots || x >= a.nx || (x >= depth && x < a.nx - depth)) {
            return -1;
        }
        const Index column = x < depth ? x : x - (a.nx - depth) + depth;
        return first + (slot * 2 * depth + column) * rows(a) + row;
    }
};

}  // namespace lbm::backend
