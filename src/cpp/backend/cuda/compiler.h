// Compiles kernels at run time by NVRTC from the headers that the library holds, and keeps the results on disk.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../custom/collision.h"

namespace lbm::cuda {

/// A kernel: a header below src/cpp/backend/cuda/kernels and the C++ name of a function or an instance of a template.
struct KernelName {
    std::string header;
    std::string name;
    std::shared_ptr<const custom::CustomCollision> custom = nullptr;  // whose text it needs; null for none
};

/// Machine code of one kernel, or PTX where the compiler does not know the architecture, and its symbol in it.
struct KernelImage {
    std::string code;
    std::string symbol;
};

struct CompilerInfo {
    int major, minor;
    std::string library;
};

/// Folders beside the usual ones in which the library of NVRTC may lie.
void set_compiler_folders(const std::vector<std::string>& folders);

/// Throws CudaMissing where there is no NVRTC.
CompilerInfo compiler_info();

/// Compiles, or reads from the cache in `folder`. `architecture` is such as "sm_90". Throws CudaError with the
/// compiler's log, custom::CompileError where that is of the text of a user's collision. Several threads may compile at
/// once.
KernelImage compile(const KernelName& kernel, const std::string& architecture, const std::string& folder);

/// Changes with the sources of the kernels and with the compiler.
std::string code_version();

/// What the assembler says of a kernel (registers, stack, spills); needs no GPU and does not use the cache.
std::string resource_usage(const KernelName& kernel, const std::string& architecture);

/// Where compiled kernels are kept: LBMGPU_CACHE_DIR, or lbmgpu in the user's cache folder; empty if there is neither.
std::string cache_folder();

}  // namespace lbm::cuda
