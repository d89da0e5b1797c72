// The arguments of the kernels for bodies that move, as plain data.
#pragma once

#include "../../moving_cells.h"
#include "arguments.h"

namespace lbm::cuda {

/// Cells of the box about a body whose links a thread counts, so that few thread blocks have links enough for all of
/// their threads.
constexpr int cells_of_thread = 2;

/// Where the surface of a body cuts a link of a cell of a part.
struct BodyCut {
    double q;  // see MovingCells::cut()
    int cell, i;
};

/// The cuts of a body in a step, by parts of its box, of SharedLinks::cells cells each, which a thread block serves at
/// once. Those for which there is no room left are found again where they are used.
struct BodyCuts {
    BodyCut* all;
    UInt32 room;    // how many there can be
    UInt32* found;  // how many have been found so far
    UInt32* first;  // of each part
    int* count;
    unsigned parts;
};

struct MovingBodyArguments {
    StateArguments state;
    backend::MovingBodies bodies;
    backend::MovingPlace place;
    ScalingArguments scaling;
    BodyCuts cuts;
};

}  // namespace lbm::cuda
