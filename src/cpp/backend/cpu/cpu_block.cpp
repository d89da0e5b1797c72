// Chooses the block type and the update kernel for a BlockSpec, and detects the instruction sets of this processor.
#include "cpu_block.h"

#include <stdexcept>

#include "custom_library.h"
#include "kernels.h"
#include "moment_block.h"
#include "moment_kernels.h"

namespace lbm::cpu {

using backend::BlockSpec;
using backend::BlockState;

/// Defined for each stencil in typed_blocks.cpp, which is compiled once for each.
template <class S>
std::unique_ptr<BlockState> make_block_of(const BlockSpec& spec, const CpuOptions& options);

/// Defined for each stencil in moment_blocks.cpp.
template <class S>
std::unique_ptr<BlockState> make_moment_block_of(const BlockSpec& spec, const CpuOptions& options);

namespace {

using Isas = TypeList<
#if defined(LBM_HAVE_AVX512)
    Avx512,
#endif
#if defined(LBM_HAVE_AVX2)
    Avx2,
#endif
    Baseline>;

template <class Isa>
UpdateKernel kernel_of(const BlockSpec& spec) {
    UpdateKernel found = nullptr;
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        for_types(Models{}, [&](auto model) {
            using Model = typename decltype(model)::type;
            if constexpr (Model::template has_stencil<S>) {
                if (spec.model == backend::model_kind<Model>) {
                    found = kernel_for<Model, S, Isa>({spec.collision, spec.precision, spec.storage});
                }
            }
        });
    });
    return found;
}

/// Calls visit(Type<Isa>) for the instruction set of that name; throws if this library has no kernels for it.
template <class Visit>
void with_isa(const std::string& isa, Visit&& visit) {
    bool known = false;
    for_types(Isas{}, [&](auto type) {
        if (isa == decltype(type)::type::name) {
            known = true;
            visit(type);
        }
    });
    if (!known) {
        throw std::invalid_argument("isa: this build has no kernels for '" + isa + "'");
    }
}

}  // namespace

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
    if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("f16c") != 0 &&
        __builtin_cpu_supports("fma") != 0) {
        isas.emplace_back("avx2");
    }
#endif
    isas.emplace_back("baseline");
    return isas;
}

UpdateKernel find_kernel(const std::string& isa, const BlockSpec& spec) {
    if (spec.custom) {
        return custom_kernels(spec, isa).update;
    }
    UpdateKernel found = nullptr;
    with_isa(isa, [&](auto type) { found = kernel_of<typename decltype(type)::type>(spec); });
    if (found == nullptr) {
        throw std::logic_error("a block's model has no such kernel");
    }
    return found;
}

EddyViscosityKernel find_eddy_viscosity_kernel(const std::string& isa, const BlockSpec& spec) {
    EddyViscosityKernel found = nullptr;
    with_isa(isa, [&](auto type) {
        backend::with_stencil(spec.stencil, [&](auto s) {
            found = eddy_viscosity_kernel_for<decltype(s), typename decltype(type)::type>(
                {spec.turbulence, spec.takes_strain, spec.precision, spec.storage});
        });
    });
    return found;
}

MomentKernel find_moment_kernel(const std::string& isa, const BlockSpec& spec) {
    MomentKernel found = nullptr;
    with_isa(isa, [&](auto type) {
        backend::with_stencil(spec.stencil, [&](auto s) {
            found = moment_kernel_for<decltype(s), typename decltype(type)::type>(
                {spec.collision, spec.precision, spec.storage});
        });
    });
    if (found == nullptr) {
        throw std::logic_error("the populations of a block's collision do not follow from moments");
    }
    return found;
}

std::unique_ptr<BlockState> make_moment_block(const BlockSpec& spec, const CpuOptions& options) {
    return backend::with_stencil(spec.stencil,
                                 [&](auto s) { return make_moment_block_of<decltype(s)>(spec, options); });
}

std::unique_ptr<BlockState> make_block(const BlockSpec& spec, const CpuOptions& options) {
    return backend::with_stencil(spec.stencil, [&](auto s) { return make_block_of<decltype(s)>(spec, options); });
}

}  // namespace lbm::cpu
