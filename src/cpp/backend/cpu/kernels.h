// The interface of the CPU's update kernels, which are compiled for several instruction sets, and their look-up.
#pragma once

#include <string>
#include <vector>

#include "../../lattice/address.h"
#include "../../lattice/streaming.h"
#include "../../lattice/temperature.h"
#include "../../lattice/turbulence/gradient.h"
#include "../kinds.h"

namespace lbm::backend {
struct BlockSpec;
}

namespace lbm::cpu {

/// Bytes of the two lattices of a block, for each thread, that the caches keep from one step to the next: what a core
/// has of a last-level cache that others share. On an EPYC with 32 MiB for the cores of several tenants 5 MB a thread
/// were faster past the caches, and 2.5 MB in them. Other blocks of the process are not looked at.
constexpr std::size_t cache_of_thread = std::size_t(4) << 20;

/// The arguments of a kernel; plain data, because kernels are compiled for several instruction sets.
struct UpdateArguments {
    const void* source;
    void* target;  // the same lattice with the A-A pattern
    Address address;
    Phase phase;
    const double* parameters;  // of the collision
    double compressibility;    // 0 with the incompressible equilibrium (lattice/inertia.h)
    bool forced;
    double force[3];
    const void* force_field;   // null, or D rows of the arithmetic type for each (y, z)
    const double* force_part;  // null, or the same of a scaled force, which is this times the factor
    double force_factor;
    Index force_pitch;
    HeatParameters<double> heat;
    const void* heat_field;  // null, or a row for each (y, z), with force_pitch
    // The cells of each row to update; both are multiples of the cells of a pack, or the length of the row.
    int first_x, end_x;
    // Null, or the row of y = z = 0. Rows of the strain rate have force_pitch from an element to the next.
    const void* eddy_viscosity;
    const void* strain;
    Index gradient_stride;  // of both, from a (y, z) to the next
    Index kept_velocity;    // from population 0 of a row to the velocity to be kept; 0: it is not kept
    Index velocity_stride;  // from a component of that to the next
    bool bypasses_caches;   // whether the lattices are larger than the caches, which results need not go to
};

/// The arguments of a kernel that computes an eddy viscosity and a strain rate of velocity gradients.
struct EddyViscosityArguments {
    const void* lattice;
    Address address;
    Phase phase;  // of the last step
    VelocityRows velocity;
    double factor;
    void* terms;  // rows of the arithmetic type, for each (y, z) one for each of GradientTerms
    Index pitch;  // from a row to the next
};

/// Updates the rows [first, last), with row = z ny + y.
using UpdateKernel = void (*)(const UpdateArguments&, Index first, Index last);

/// Computes them for the rows [first, last), as if there were fluid all around.
using EddyViscosityKernel = void (*)(const EddyViscosityArguments&, Index first, Index last);

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

/// Identifies a kernel among those of one model, stencil and instruction set.
struct KernelKind {
    backend::CollisionKind collision;
    backend::NumberKind precision, storage;
};

/// The kernel of a kind; null if the model has none. It is defined in a file that is compiled for each model, stencil
/// and instruction set. It takes plain data, because the linker might give inline code of the standard library from
/// that file to a processor without the instruction set.
template <class Model, class S, class Isa>
UpdateKernel kernel_for(const KernelKind& kind);

/// The same of the kernels of velocity gradients.
struct EddyViscosityKind {
    backend::TurbulenceKind turbulence;  // none for a strain rate alone
    bool strain;
    backend::NumberKind precision, storage;
};
template <class S, class Isa>
EddyViscosityKernel eddy_viscosity_kernel_for(const EddyViscosityKind& kind);

/// The instruction sets for which this library has kernels and which this processor supports, the best first.
std::vector<std::string> usable_isas();

/// The kernel for a block. Throws std::invalid_argument for an unknown instruction set.
UpdateKernel find_kernel(const std::string& isa, const backend::BlockSpec& spec);
/// The kernel of what the block takes of velocity gradients; null for nothing.
EddyViscosityKernel find_eddy_viscosity_kernel(const std::string& isa, const backend::BlockSpec& spec);

}  // namespace lbm::cpu
