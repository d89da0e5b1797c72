// What the update kernels are compiled for, beside the physics.
#pragma once

namespace lbm::cuda {

/// The kind of body force.
enum class Forcing { None, Uniform, Field };

/// Where the threads of a row are: in one warp, in one thread block, or in several of these.
enum class RowSpan { Warp, ThreadBlock, Several };

}  // namespace lbm::cuda
