// The parameters of a custom collision in the arguments of kernels for GPUs. The host does not know their type, so they
// are padded to a fixed size.
#pragma once

#include "../../lattice/parameters.h"
#include "given.h"

namespace lbm::custom {

/// The parameters as a kernel reads them.
template <class Parameters>
struct Padded : Parameters {
    decltype(Parameters::omega) rest[most_numbers - number_count<Parameters>];
};

/// The parameters as the host writes them.
template <class Real>
struct Numbers {
    Real omega;
    Real rest[most_numbers - 1];
};

}  // namespace lbm::custom
