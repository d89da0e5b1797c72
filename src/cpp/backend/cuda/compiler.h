// Compiles kernels at run time with NVRTC from the headers embedded in the library, and caches the results on disk.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../custom/collision.h"
#include "../run_time_compilation/kernel_cache.h"

namespace lbm::cuda {

using run_time::KernelImage;

/// Identifies a kernel by its header in src/cpp/backend/cuda/kernels and the C++ name of a function or an instance of a
/// function template.
struct KernelName {
    std::string header;
    std::string name;
    std::shared_ptr<const custom::CustomCollision> custom = nullptr;  // whose text it needs; null for none
};

/// An order of names. Two collisions of users may have one name, so that their texts count too.
struct KernelOrder {
    bool operator()(const KernelName& a, const KernelName& b) const;
};

struct CompilerInfo {
    int major, minor;
    std::string library;
};

/// Sets additional folders in which to look for the NVRTC library.
void set_compiler_folders(const std::vector<std::string>& folders);

/// Version and path of NVRTC. Throws CudaMissing if there is none.
CompilerInfo compiler_info();

/// Compiles a kernel, or reads it from the cache in `folder`. `architecture` is a name such as "sm_90". Throws
/// CudaError with the compiler's log, custom::CompileError where that is of the text of a user's collision. Several
/// threads may compile at the same time.
KernelImage compile(const KernelName& kernel, const std::string& architecture, const std::string& folder);

/// A text that changes with the sources of the kernels and with the compiler.
std::string code_version();

/// The assembler's report on a kernel (registers, stack, spills). It needs no GPU and does not use the cache.
std::string resource_usage(const KernelName& kernel, const std::string& architecture);

}  // namespace lbm::cuda
