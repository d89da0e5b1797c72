// Template parameters of the update kernels that do not concern the collision: the kind of force, how rows are divided
// among threads, and which cells of a row are updated.
#pragma once

namespace lbm::cuda {

/// The kind of body force.
enum class Forcing { None, Uniform, Field };

/// Whether the threads of a row are in one warp, in one thread block, or in several thread blocks.
enum class RowSpan { Warp, ThreadBlock, Several };

/// The cells of a row that a kernel updates: all of them, or, where an interior is trimmed in x, the interior's cells,
/// or those at the row's ends.
enum class RowPart { Whole, Inner, Ends };

}  // namespace lbm::cuda
