// Finds the block and the kernel for a configuration, and the instruction sets of this processor.
#include "cpu_block.h"

#include <stdexcept>

#include "kernels.h"

namespace lbm::cpu {

using backend::BlockSpec;
using backend::BlockState;
using backend::CollisionKind;
using backend::NumberKind;
using backend::StencilKind;

std::unique_ptr<BlockState> make_block_D2Q9(const BlockSpec& spec, const CpuOptions& options);
std::unique_ptr<BlockState> make_block_D3Q19(const BlockSpec& spec, const CpuOptions& options);
std::unique_ptr<BlockState> make_block_D3Q27(const BlockSpec& spec, const CpuOptions& options);
std::unique_ptr<BlockState> make_block_D2Q37(const BlockSpec& spec, const CpuOptions& options);

#define LBM_DECLARE_KERNELS(isa)                                                                                 \
    UpdateKernel kernel_##isa##_D2Q9(CollisionKind, NumberKind, NumberKind);                                     \
    UpdateKernel kernel_##isa##_D3Q19(CollisionKind, NumberKind, NumberKind);                                    \
    UpdateKernel kernel_##isa##_D3Q27(CollisionKind, NumberKind, NumberKind);                                    \
    UpdateKernel heated_kernel_##isa##_D2Q9(CollisionKind, NumberKind, NumberKind);                              \
    UpdateKernel heated_kernel_##isa##_D3Q19(CollisionKind, NumberKind, NumberKind);                             \
    UpdateKernel kinetic_kernel_##isa(NumberKind, bool);                                                         \
    static UpdateKernel find_kernel_##isa(const BlockSpec& s) {                                                  \
        switch (s.stencil) {                                                                                     \
            case StencilKind::D2Q9:                                                                              \
                return (s.heated ? heated_kernel_##isa##_D2Q9 : kernel_##isa##_D2Q9)(s.collision, s.precision,   \
                                                                                     s.storage);                 \
            case StencilKind::D3Q19:                                                                             \
                return (s.heated ? heated_kernel_##isa##_D3Q19 : kernel_##isa##_D3Q19)(s.collision, s.precision, \
                                                                                       s.storage);               \
            case StencilKind::D3Q27: return kernel_##isa##_D3Q27(s.collision, s.precision, s.storage);           \
            default: return kinetic_kernel_##isa(s.precision, s.kinetic.excess != 0);                            \
        }                                                                                                        \
    }

LBM_DECLARE_KERNELS(baseline)
#if defined(LBM_HAVE_AVX2)
LBM_DECLARE_KERNELS(avx2)
#endif
#if defined(LBM_HAVE_AVX512)
LBM_DECLARE_KERNELS(avx512)
#endif

std::vector<std::string> usable_isas() {
    std::vector<std::string> isas;
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(LBM_HAVE_AVX512)
    if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
        __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
        isas.emplace_back("avx512");
    }
#endif
#if defined(LBM_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("f16c") != 0) {
        isas.emplace_back("avx2");
    }
#endif
    isas.emplace_back("baseline");
    return isas;
}

UpdateKernel find_kernel(const std::string& isa, const BlockSpec& spec) {
#if defined(LBM_HAVE_AVX512)
    if (isa == "avx512") {
        return find_kernel_avx512(spec);
    }
#endif
#if defined(LBM_HAVE_AVX2)
    if (isa == "avx2") {
        return find_kernel_avx2(spec);
    }
#endif
    if (isa == "baseline") {
        return find_kernel_baseline(spec);
    }
    throw std::invalid_argument("isa: this build has no kernels for '" + isa + "'");
}

std::unique_ptr<BlockState> make_block(const BlockSpec& spec, const CpuOptions& options) {
    switch (spec.stencil) {
        case StencilKind::D2Q9: return make_block_D2Q9(spec, options);
        case StencilKind::D3Q19: return make_block_D3Q19(spec, options);
        case StencilKind::D3Q27: return make_block_D3Q27(spec, options);
        default: return make_block_D2Q37(spec, options);
    }
}

}  // namespace lbm::cpu
