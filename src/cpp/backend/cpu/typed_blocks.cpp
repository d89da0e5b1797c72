// The CPU blocks of one stencil, for every pair of arithmetic and storage; compiled once for each stencil.
#include "typed_block.h"

#define LBM_JOIN_(a, b) a##_##b
#define LBM_JOIN(a, b) LBM_JOIN_(a, b)

namespace lbm::cpu {
namespace {

template <class S>
std::unique_ptr<backend::BlockState> make_typed_block(const backend::BlockSpec& spec, const CpuOptions& options) {
    using backend::NumberKind;
    const bool wide = spec.precision == NumberKind::Float64;
    if (spec.storage == spec.precision) {
        return wide ? std::unique_ptr<backend::BlockState>(new TypedBlock<S, double, double>(spec, options))
                    : std::unique_ptr<backend::BlockState>(new TypedBlock<S, float, float>(spec, options));
    }
    if constexpr (!Stencil<S>::multispeed) {  // which is stored as it is computed
        if (wide && spec.storage == NumberKind::Float32) {
            return std::make_unique<TypedBlock<S, double, float>>(spec, options);
        }
        return wide ? std::unique_ptr<backend::BlockState>(new TypedBlock<S, double, Half>(spec, options))
                    : std::unique_ptr<backend::BlockState>(new TypedBlock<S, float, Half>(spec, options));
    }
    return nullptr;
}

}  // namespace

std::unique_ptr<backend::BlockState> LBM_JOIN(make_block, LBM_STENCIL)(const backend::BlockSpec& spec,
                                                                       const CpuOptions& options) {
    return make_typed_block<LBM_STENCIL>(spec, options);
}

}  // namespace lbm::cpu
