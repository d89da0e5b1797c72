// Links that are unevenly spread over the cells of a thread block, divided evenly among its threads.
#pragma once

#include "pack.h"

namespace lbm::cuda {

constexpr int shared_links_threads = 256;  // of a thread block

/// The links of the cells of a thread block, in the memory that its threads share.
struct SharedLinks {
    static constexpr int warps = shared_links_threads / 32;
    int in_warp[warps];
    int end[shared_links_threads];         // how many links there are up to those of a thread, with these
    unsigned links[shared_links_threads];  // of each thread: bit i for that of population i
};

/// The index of a thread of this block among all of a grid, of which each warp has 32 that follow each other, and those
/// of a block are far apart. Cells with many links are close together, and so are in many blocks.
__device__ inline Index spread_index(unsigned thread) {
    constexpr unsigned apart = 37;  // warps; a prime, so that rows and layers of cells are no multiple of it
    const unsigned warp = thread / 32;
    const Index group = Index(warp) * gridDim.x + (blockIdx.x + warp * apart) % gridDim.x;
    return 32 * group + thread % 32;
}

/// Calls visit(thread, i) for each link that a thread of the block has, `own` of this one, in some thread. All threads
/// of the block call it. Which thread visits which links, and in which order, depends on nothing but these.
template <class Visit>
__device__ void for_shared_links(unsigned own, SharedLinks& shared, Visit&& visit) {
    const int thread = int(threadIdx.x), lane = thread % 32, warp = thread / 32;
    int end = __popc(own);
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
    shared.end[thread] = end;
    shared.links[thread] = own;
    __syncthreads();
    for (int link = thread; link < all; link += shared_links_threads) {
        int of = 0;  // the first thread whose end is behind the link
        for (int half = shared_links_threads / 2; half > 0; half /= 2) {
            of += shared.end[of + half - 1] <= link ? half : 0;
        }
        unsigned left = shared.links[of];
        for (int skip = link - (of > 0 ? shared.end[of - 1] : 0); skip > 0; --skip) {
            left &= left - 1;
        }
        visit(of, __ffs(int(left)) - 1);
    }
}

}  // namespace lbm::cuda
