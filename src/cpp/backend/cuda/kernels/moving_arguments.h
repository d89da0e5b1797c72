// The arguments of the kernels for bodies that move, as plain data.
#pragma once

#include "../../moving_cells.h"
#include "arguments.h"

namespace lbm::cuda {

struct MovingBodyArguments {
    StateArguments state;
    backend::MovingBodies bodies;
    backend::MovingPlace place;
    ScalingArguments scaling;
};

}  // namespace lbm::cuda
