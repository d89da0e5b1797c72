// Follows lattice lines through a surface: the threads of a warp, or of several, have a triangle and share the lines
// that cross it. geometry/crossings.h has the arithmetic, which the CPU compiles too.
#pragma once

#include "mesh_arguments.h"

namespace lbm::cuda {

/// Calls body(first, second, sign, cut) for the thread's share of all lines that cross triangles.
template <class Body>
__device__ void for_own_crossings(const MeshArguments& a, Body&& body) {
    const Index thread = Index(blockIdx.x) * blockDim.x + threadIdx.x, triangle = thread / a.threads_each;
    if (triangle < a.triangles) {
        const geometry::LineShare share{thread - triangle * a.threads_each, a.threads_each};
        geometry::for_crossings(a.surface, a.along, int(triangle), a.lines, share, body);
    }
}

/// Adds to numbers of cells, `size` from cell `low` on along each line one after the other, by how much a surface is
/// wound about more often from there on than before; or 1 for each crossing. They are integers, so that their sums do
/// not depend on the order. The lines are along z.
__global__ void add_crossings(const __grid_constant__ MeshArguments a, Index low, Index size, bool counts,
                              int* changes) {
    const Index columns = a.lines.second_end - a.lines.second_begin;
    for_own_crossings(a, [&](Index first, Index second, int sign, const geometry::Cut& cut) {
        const Index from = geometry::greater(cut.cell + 1 - low, Index(0));
        if (from < size) {
            const Index line = (first - a.lines.first_begin) * columns + second - a.lines.second_begin;
            atomicAdd(changes + line * size + from, counts ? 1 : sign);
        }
    });
}

/// Adds the changes up along each line, a warp for each, and says of each cell whether it is inside: where the sum is
/// odd if it counts crossings, else where it is not 0.
__global__ void fill_lines(const int* changes, Index lines, Index size, bool counts, unsigned char* solid) {
    const Index line = (Index(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const int lane = int(threadIdx.x) % 32;
    if (line >= lines) {
        return;
    }
    int before = 0;
    for (Index start = 0; start < size; start += 32) {
        const Index at = line * size + start + lane;
        const bool is_cell = start + lane < size;
        int sum = is_cell ? changes[at] : 0;
        for (int by = 1; by < 32; by *= 2) {
            const int other = __shfl_up_sync(0xFFFFFFFFU, sum, unsigned(by));
            sum += lane >= by ? other : 0;
        }
        sum += before;
        if (is_cell) {
            solid[at] = counts ? sum % 2 != 0 : sum != 0;
        }
        before = __shfl_sync(0xFFFFFFFFU, sum, 31);
    }
}

/// Appends the cuts of links from cells of a box to a list, in any order, and counts them, also those beyond its
/// capacity.
__global__ void find_cuts(const __grid_constant__ MeshArguments a, const __grid_constant__ geometry::CellBox box,
                          UInt64 capacity, UInt64* count, geometry::LineCut* cuts) {
    for_own_crossings(a, [&](Index first, Index second, int, const geometry::Cut& cut) {
        const geometry::LineCut found = geometry::on_link(a.along, first, second, cut);
        if (box.has(found.cell)) {
            const UInt64 at = atomicAdd(count, UInt64(1));
            if (at < capacity) {
                cuts[at] = found;
            }
        }
    });
}

}  // namespace lbm::cuda
