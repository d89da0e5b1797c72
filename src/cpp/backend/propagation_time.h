// Times the propagation of populations in a layout of memory.
#pragma once

#include <string>
#include <vector>

#include "devices.h"
#include "kinds.h"
#include "propagation.h"

namespace lbm::backend {

/// What is propagated: a stencil's populations, a member of MemoryLayouts by its index, and the type of the numbers.
struct PropagationKind {
    StencilKind stencil;
    int layout;
    NumberKind number;
};

/// Seconds of a step in a box on a device, the mean of as many as take `seconds`; `options` are those that checked()
/// has returned. Two lattices are made for it. Throws std::invalid_argument for a box that is too small for the stencil
/// or has 2^31 cells or more.
double propagation_seconds(const PropagationKind& kind, const PropagationBox& box, const DeviceOptions& options,
                           double seconds);

}  // namespace lbm::backend
