// The parameters of a user's collision in the arguments of a GPU's kernels, which the host lays out without knowing
// their type: whatever they are, they take the same room.
#pragma once

#include "../../lattice/parameters.h"
#include "given.h"

namespace lbm::custom {

/// As a kernel has them.
template <class Parameters>
struct Padded : Parameters {
    decltype(Parameters::omega) rest[most_numbers - number_count<Parameters>];
};

/// As the host has them.
template <class Real>
struct Numbers {
    Real omega;
    Real rest[most_numbers - 1];
};

}  // namespace lbm::custom
