// Copies populations between blocks, or between a block and a buffer: a warp for each copy run, then a thread for each
// single copy.
#pragma once

#include "../../../lattice/storage.h"
#include "arguments.h"
#include "copy_run.h"
#include "dependent_launch.h"

namespace lbm::cuda {

/// It has no wait_for_kernel_before(): it starts only after the previous kernel has ended, and after the events of
/// other devices for which the stream waits.
template <class Stored>
__global__ void transfer(const __grid_constant__ TransferArguments a) {
    let_next_kernel_begin();
    const Index thread = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    const Index number = thread / 32;
    if (number < a.run_count) {
        const backend::TransferRun r = a.runs[number];
        const TransferEnds ends = a.ends[r.transfer];
        copy_run(r.run, static_cast<const Stored*>(ends.from), static_cast<Stored*>(ends.to), int(thread & 31));
        return;
    }
    const Index single = thread - 32 * a.run_count;
    if (single < a.single_count) {
        const SingleTransfer copy = a.singles[single];
        const TransferEnds ends = a.ends[copy.transfer];
        static_cast<Stored*>(ends.to)[copy.copy.target] = static_cast<const Stored*>(ends.from)[copy.copy.source];
    }
}

}  // namespace lbm::cuda
