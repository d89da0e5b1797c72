// How the update of a block is cut into threads.
#pragma once

#include <vector>

#include "../block_state.h"
#include "kernel.h"
#include "kernels/update_kinds.h"

namespace lbm::cuda {

/// Which of a block's updates.
struct UpdateKind {
    Phase phase;
    Forcing forcing = Forcing::None;
    bool end_sums = false;  // it keeps those
};

struct LaunchConfiguration {
    int lanes;    // neighbouring cells a thread
    int threads;  // most threads a block
    int blocks;   // blocks that a multiprocessor must be able to run at once: bounds the registers
};

/// Large blocks keep all multiprocessors at work for many launches of thread blocks; small ones fit in the cache.
enum class BlockSize { Small, Medium, Large };
BlockSize block_size(const backend::BlockSpec& spec);

/// What has been fastest on an H200 for this kind of block.
LaunchConfiguration usual_shape(const backend::BlockSpec& spec, const UpdateKind& kind);

/// All that are worth a measurement.
std::vector<LaunchConfiguration> possible_shapes(const backend::BlockSpec& spec);

/// Whether an update can be launched so.
bool is_possible(const backend::BlockSpec& spec, const LaunchConfiguration& shape);

RowSpan row_span(const backend::BlockSpec& spec, const LaunchConfiguration& shape);

/// Of so many rows. Whole rows a thread block where they are short enough; several where they are shorter still.
LaunchShape update_launch(const backend::BlockSpec& spec, const LaunchConfiguration& shape, Index rows);

}  // namespace lbm::cuda
