// The update kernels that this library holds for each instruction set, and how to find one.
#pragma once

#include <string>
#include <vector>

#include "../../lattice/address.h"
#include "../../lattice/streaming.h"
#include "../../lattice/temperature.h"
#include "../kinds.h"

namespace lbm::backend {
struct BlockSpec;
}

namespace lbm::cpu {

/// Everything a kernel needs; plain data, because kernels are compiled for several instruction sets.
struct UpdateArguments {
    const void* source;
    void* target;  // the same lattice when streaming in place
    Address address;
    Phase phase;
    const double* parameters;  // of the collision
    bool forced;
    double force[3];
    const void* force_field;  // null, or D rows of the arithmetic type for each (y, z)
    Index force_pitch;
    HeatParameters<double> heat;
    const void* heat_field;  // null, or a row for each (y, z), of the pitch of the force
};

/// Updates the rows [first, last), row = z ny + y.
using UpdateKernel = void (*)(const UpdateArguments&, Index first, Index last);

/// The instruction sets that kernels are compiled for.
struct Baseline {
    static constexpr const char* name = "baseline";
};
struct Avx2 {
    static constexpr const char* name = "avx2";
};
struct Avx512 {
    static constexpr const char* name = "avx512";
};

/// What the kernels of one model, stencil and instruction set differ by.
struct KernelKind {
    backend::CollisionKind collision;
    backend::NumberKind precision, storage;
};

/// The kernel of a kind, null where the model has none. Defined for each model, stencil and instruction set by the file
/// that is compiled for them, which is why it takes plain data: inline code of the standard library in it might be
/// handed to a processor without the instruction set.
template <class Model, class S, class Isa>
UpdateKernel kernel_for(const KernelKind& kind);

/// Instruction sets that this library holds kernels for and this processor runs, the best first.
std::vector<std::string> usable_isas();

/// The kernel for the blocks of a spec.
UpdateKernel find_kernel(const std::string& isa, const backend::BlockSpec& spec);

}  // namespace lbm::cpu
