// Populations that coming thread blocks will load are asked for ahead, so that they are in the second-level cache by
// then.
//
// The threads of a multiprocessor have no registers for more populations than those of their own cells, and while they
// collide, the memory has too little to do: the more arithmetic a collision has, the longer. A request for a memory
// line takes no register. What is asked for depends on nothing, and is no part of a result.
#pragma once

#include "../../row_box.h"

namespace lbm::cuda {

/// Lets the second-level cache load the memory line of an address.
__device__ inline void prefetch(const void* address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address)); }

/// Lets the second-level cache load `length` bytes from an address on. So many threads share their lines: thread t asks
/// for those with the numbers t, t + threads and so on, fewer requests than if each asked for what its own cells need.
__device__ inline void prefetch_lines(const char* from, int length, int thread, int threads) {
    constexpr int line = 128;
    const int turns = threads * line;
    for (int at = thread * line; at < length; at += turns) {
        prefetch(from + at);
    }
}

/// How far ahead the rows are that a thread asks for.
struct RowsAhead {
    bool any;     // false: nothing is asked for
    Index bytes;  // from its own row
};

/// `rows_ahead` is that of the arguments, and `row_bytes` from a row to the next one along y. For populations of other
/// rows than the one ahead, in the first and the last layer nothing is asked for: from there, populations come around
/// the ends of a self-periodic z axis. Around those of y they come from up to a layer further on, which the halo rows
/// behind the last layer leave room for.
///
/// Of rows that are ordered along y, then z, which is the order of the memory.
__device__ inline RowsAhead ahead_in_layers(unsigned row, const backend::RowBox& rows, unsigned rows_ahead,
                                            Index row_bytes) {
    const unsigned layer = unsigned(rows.ny), end = layer * unsigned(rows.nz);
    const bool any = rows_ahead != 0 && row >= layer && row + rows_ahead + layer < end;
    return {any, rows_ahead * row_bytes};
}

/// Of rows in tiles of `most` rows along y: whole layers z ahead. `layer_bytes` is from a row to the next along z.
template <unsigned most>
__device__ inline RowsAhead ahead_in_tiles(unsigned z, const backend::RowBox& rows, unsigned rows_ahead,
                                           Index layer_bytes) {
    const unsigned layers = (rows_ahead + most / 2) / most;
    const bool any = rows_ahead != 0 && z >= 1 && z + layers + 1 < unsigned(rows.nz);
    return {any, layers * layer_bytes};
}

}  // namespace lbm::cuda
