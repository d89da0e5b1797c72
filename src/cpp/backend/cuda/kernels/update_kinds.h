// Template parameters of the update kernels that do not concern the collision: the kind of force, and how rows are
// divided among threads.
#pragma once

namespace lbm::cuda {

/// The kind of body force.
enum class Forcing { None, Uniform, Field };

/// Whether the threads of a row are in one warp, in one thread block, or in several thread blocks.
enum class RowSpan { Warp, ThreadBlock, Several };

}  // namespace lbm::cuda
