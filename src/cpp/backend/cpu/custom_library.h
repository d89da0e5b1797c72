// The kernel of a user's collision for CPUs: compiled when a block wants it, and kept on disk as kernels for GPUs are.
#pragma once

#include <string>
#include <vector>

#include "../block_state.h"
#include "../custom/given.h"
#include "kernels.h"

namespace lbm::cpu {

/// What a shared object has (custom/host_kernel.h).
struct CustomKernels {
    UpdateKernel update;
    void (*make_parameters)(const custom::GivenNumber* given, int count, custom::Made* made);
};

/// Those of a spec, which has a collision of a user's. Throws custom::CompileError where its text does not compile or
/// there is no compiler. They stay loaded to the end of the process; several threads may ask at once.
const CustomKernels& custom_kernels(const backend::BlockSpec& spec, const std::string& isa);

}  // namespace lbm::cpu
