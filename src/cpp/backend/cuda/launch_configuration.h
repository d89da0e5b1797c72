// Launch configurations of the update kernels: cells per thread, threads per block, and blocks per multiprocessor.
#pragma once

#include <vector>

#include "../block_state.h"
#include "kernel.h"
#include "kernels/update_kinds.h"

namespace lbm::cuda {

/// The properties of an update kernel, besides the block's, on which its best launch configuration depends.
struct UpdateKind {
    Phase phase;
    Forcing forcing = Forcing::None;
    bool end_sums = false;        // whether it stores the moments of the cells at the ends of rows
    bool keeps_velocity = false;  // whether it stores velocities, for an eddy viscosity of their gradients
    bool renews_terms = false;    // whether it computes that from those that the step before has stored
    int row_ends = 0;             // what there are columns of at the ends of rows (row_end_columns.h)
};

struct LaunchConfiguration {
    int cells_per_thread;  // neighbours along x
    int threads;           // maximum of threads per block
    int blocks;            // blocks that must be able to reside on a multiprocessor, which limits the registers
};

/// Classes of block sizes: a small block fits in the cache, a large one has many thread blocks per multiprocessor.
enum class BlockSize { Small, Medium, Large };
BlockSize block_size(const backend::BlockSpec& spec);

/// The default: the fastest launch configuration on an H200 for this kind of block and update.
LaunchConfiguration default_configuration(const backend::BlockSpec& spec, const UpdateKind& kind);

/// All launch configurations that are worth measuring.
std::vector<LaunchConfiguration> candidate_configurations(const backend::BlockSpec& spec);

/// Whether the update can be launched with this configuration.
bool is_possible(const backend::BlockSpec& spec, const LaunchConfiguration& configuration);

RowSpan row_span(const backend::BlockSpec& spec, const LaunchConfiguration& configuration);

/// The launch for so many rows. A thread block has one whole row or several, if rows are short enough; otherwise a row
/// is divided among several thread blocks.
LaunchDimensions update_launch(const backend::BlockSpec& spec, const LaunchConfiguration& configuration, Index rows);

}  // namespace lbm::cuda
