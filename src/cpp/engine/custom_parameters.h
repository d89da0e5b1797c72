// The parameters of a custom collision: its own compiled code makes them, and they are checked as those of the engine's
// own collisions.
#pragma once

#include <vector>

#include "setup.h"

namespace lbm::engine {

/// The parameters as a row of numbers, for blocks on one device (setup.device), for which the text is compiled. Throws
/// custom::CompileError where it does not compile or nothing compiles it, std::invalid_argument where the parameters or
/// the stencil are not what the collision takes.
std::vector<double> custom_numbers(const Setup& setup);

/// Sets the custom collision of a spec, with the numbers of the setup.
void set_custom(const Setup& setup, backend::BlockSpec& spec);

}  // namespace lbm::engine
