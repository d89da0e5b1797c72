// Template parameters of the update kernels that do not concern the collision: the kind of force, and how rows are
// divided among threads.
#pragma once

namespace lbm::cuda {

/// The kind of body force; a scaled one is what was given times a factor of each step.
enum class Forcing { None, Uniform, Field, ScaledUniform, ScaledField };

/// Whether the threads of a row are in one warp, in one thread block, or in several thread blocks.
enum class RowSpan { Warp, ThreadBlock, Several };

}  // namespace lbm::cuda
