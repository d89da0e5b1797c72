// The arguments of the kernels for bodies that move, as plain data.
#pragma once

#include "../../moving_cells.h"
#include "arguments.h"

namespace lbm::cuda {

/// Cells of the box about a body whose links a thread counts, so that few thread blocks have links enough for all of
/// their threads.
constexpr int cells_of_thread = 2;

struct MovingBodyArguments {
    StateArguments state;
    backend::MovingBodies bodies;
    backend::MovingPlace place;
    ScalingArguments scaling;
};

}  // namespace lbm::cuda
