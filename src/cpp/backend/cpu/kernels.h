// The update kernels that this library holds for each instruction set, and how to find one.
#pragma once

#include <string>
#include <vector>

#include "../../lattice/address.h"
#include "../../lattice/collide.h"
#include "../../lattice/temperature.h"
#include "../kinds.h"

namespace lbm {
template <class Real>
struct KineticParameters;
namespace backend {
struct BlockSpec;
}
}  // namespace lbm

namespace lbm::cpu {

/// Everything a kernel needs; plain data, because kernels are compiled for several instruction sets.
struct UpdateArguments {
    const void* source;
    void* target;  // the same lattice when streaming in place
    Address address;
    Phase phase;
    CollisionParameters<double> parameters;
    bool forced;
    double force[3];
    const void* force_field;  // null, or D rows of the arithmetic type for each (y, z)
    Index force_pitch;
    HeatParameters<double> heat;
    const void* heat_field;                    // null, or a row for each (y, z), of the pitch of the force
    const KineticParameters<double>* kinetic;  // where populations carry the energy
};

/// Updates the rows [first, last), row = z ny + y.
using UpdateKernel = void (*)(const UpdateArguments&, Index first, Index last);

/// Instruction sets that this library holds kernels for and this processor runs, the best first.
std::vector<std::string> usable_isas();

/// The kernel for the blocks of a spec.
UpdateKernel find_kernel(const std::string& isa, const backend::BlockSpec& spec);

}  // namespace lbm::cpu
