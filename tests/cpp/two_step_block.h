// A way to keep the state that only tests have: populations in two lattices, with halos two cells deep, that a launch
// advances by two steps, the first of them on the cells around the block too.
#pragma once

#include <atomic>

#include "../../src/cpp/backend/devices.h"

namespace tests {

/// Of isothermal BGK in float64, on the CPU. Its blocks can be recorded.
extern const lbm::backend::StateKind two_steps;

/// Updates that its blocks have been asked for in this process; replayed ones are not.
extern std::atomic<int> two_step_updates;

}  // namespace tests
