// The parameters of a collision that a user wrote: made by its own compiled code, checked as those of the list are.
#pragma once

#include <vector>

#include "setup.h"

namespace lbm::engine {

/// As a row of numbers, for blocks on one device (setup.device), for which all of the text is compiled. Throws
/// custom::CompileError where it does not compile or nothing compiles it, std::invalid_argument where the parameters or
/// the stencil are not what the collision takes.
std::vector<double> custom_numbers(const Setup& setup);

/// Gives a spec such a collision with the numbers of the setup.
void set_custom(const Setup& setup, backend::BlockSpec& spec);

}  // namespace lbm::engine
