// The kernels of a custom collision for CPUs: compiled when a block wants them, and kept on disk as kernels for GPUs
// are.
#pragma once

#include <string>
#include <vector>

#include "../block_state.h"
#include "../custom/given.h"
#include "kernels.h"

namespace lbm::cpu {

/// The functions of a shared object (custom/host_kernel.h).
struct CustomKernels {
    UpdateKernel update;
    void (*make_parameters)(const custom::GivenNumber* given, int count, custom::Made* made);
};

/// The kernels of the custom collision of `spec`. Throws custom::CompileError where its text does not compile or there
/// is no compiler. They stay loaded to the end of the process; several threads may call this at once.
const CustomKernels& custom_kernels(const backend::BlockSpec& spec, const std::string& isa);

}  // namespace lbm::cpu
