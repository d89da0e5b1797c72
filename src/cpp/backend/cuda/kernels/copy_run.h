// Makes a copy run with the threads of a warp.
#pragma once

#include "../../../lattice/stencil.h"
#include "../../link_data.h"

namespace lbm::cuda {

template <class Stored>
__device__ void copy_run(const backend::CopyRun& run, const Stored* from, Stored* to, int lane) {
    constexpr int together = 4;  // number of loads in flight
    for (int first = lane; first < run.count; first += 32 * together) {
        Stored values[together];
        static_for<together>([&]<int j>() {
            const int k = first + 32 * j;
            if (k < run.count) {
                values[j] = from[run.source + k * run.source_stride];
            }
        });
        static_for<together>([&]<int j>() {
            const int k = first + 32 * j;
            if (k < run.count) {
                to[run.target + k * run.target_stride] = values[j];
            }
        });
    }
}

}  // namespace lbm::cuda
