// A streaming pattern for tests only: two lattices with halos two cells deep, advanced two steps per launch,
// recomputing one layer of halo cells.
#pragma once

#include <atomic>

#include "../../src/cpp/backend/devices.h"

namespace tests {

/// Of isothermal BGK in float64, on the CPU. Its blocks can be recorded.
extern const lbm::backend::StateKind two_steps;

/// Updates that its blocks have been asked for in this process; replayed ones are not.
extern std::atomic<int> two_step_updates;

}  // namespace tests
