// Runs the grid of a kernel: its thread blocks one after the other, the threads of a block as fibers.
#pragma once

#include "machine.h"

namespace emulated {

/// The one machine, which kernels' libraries are given.
Machine& machine();

/// Runs all threads. With a `seed` other than 0 blocks, and threads between two operations at which they wait for each
/// other, run in an order that it shuffles. Throws Error where threads wait for each other in vain.
void run_grid(const KernelEntry& kernel, const void* const* arguments, Position grid, Position block, unsigned seed);

}  // namespace emulated
