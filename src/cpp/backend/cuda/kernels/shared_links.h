// Links that are unevenly spread over the cells of a thread block, divided evenly among its threads.
#pragma once

#include "moving_arguments.h"
#include "pack.h"

namespace lbm::cuda {

constexpr int shared_links_threads = 256;  // of a thread block

/// The links of the cells of a thread block, in the memory that its threads share.
struct SharedLinks {
    static constexpr int warps = shared_links_threads / 32;
    static constexpr int cells = shared_links_threads * cells_of_thread;
    int in_warp[warps];
    int end[cells];         // how many links there are up to those of a cell, with these
    unsigned links[cells];  // of each cell: bit i for that of population i
};

/// The index among the cells of so many parts of a cell of one of them, which a thread block serves at once. A thread t
/// has those from cells_of_thread * t on, and the threads of a warp have 32 that follow each other for each of these.
/// Other cells of the part are far apart: so those with many links, which are close together, are in many parts.
__device__ inline Index spread_index(unsigned cell, unsigned part, unsigned parts) {
    constexpr unsigned apart = 37;  // groups of 32; a prime, so that rows and layers of cells are no multiple of it
    const unsigned thread = cell / cells_of_thread;
    const unsigned group = cell % cells_of_thread * SharedLinks::warps + thread / 32;
    return 32 * (Index(group) * parts + (part + group * apart) % parts) + thread % 32;
}

/// Finds the links of the cells of the block, links_of(cell) of each of a thread's; returns how many there are. All
/// threads of the block call it.
template <class LinksOf>
__device__ int count_shared_links(SharedLinks& shared, const LinksOf& links_of) {
    const int thread = int(threadIdx.x), lane = thread % 32, warp = thread / 32;
    unsigned own[cells_of_thread];
    int end = 0;
    for (int k = 0; k < cells_of_thread; ++k) {
        own[k] = links_of(cells_of_thread * thread + k);
        end += __popc(own[k]);
    }
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(whole_warp, end, unsigned(step));
        end += lane >= step ? before : 0;
    }
    __syncthreads();  // the links of an earlier call have been visited
    if (lane == 31) {
        shared.in_warp[warp] = end;
    }
    __syncthreads();
    int all = 0;
    for (int w = 0; w < SharedLinks::warps; ++w) {
        end += w < warp ? shared.in_warp[w] : 0;
        all += shared.in_warp[w];
    }
    for (int k = cells_of_thread - 1; k >= 0; --k) {
        shared.end[cells_of_thread * thread + k] = end;
        shared.links[cells_of_thread * thread + k] = own[k];
        end -= __popc(own[k]);
    }
    __syncthreads();
    return all;
}

/// Calls visit(cell, i, link) in some thread for each link that was counted, with its number. Which thread visits which
/// links, and in which order, depends on nothing but these.
template <class Visit>
__device__ void for_shared_links(const SharedLinks& shared, int all, const Visit& visit) {
    for (int link = int(threadIdx.x); link < all; link += shared_links_threads) {
        int of = 0;  // the first cell whose end is behind the link
        for (int half = SharedLinks::cells / 2; half > 0; half /= 2) {
            of += shared.end[of + half - 1] <= link ? half : 0;
        }
        unsigned left = shared.links[of];
        for (int skip = link - (of > 0 ? shared.end[of - 1] : 0); skip > 0; --skip) {
            left &= left - 1;
        }
        visit(of, __ffs(int(left)) - 1, link);
    }
}

}  // namespace lbm::cuda
