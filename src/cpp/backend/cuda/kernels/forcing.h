// The kinds of body force that the update kernels are compiled for.
#pragma once

namespace lbm::cuda {

enum class Forcing { None, Uniform, Field };

}  // namespace lbm::cuda
