// The CPU blocks of one stencil, for every pair of arithmetic and storage; compiled once for each stencil.
#include "typed_block.h"

#define LBM_JOIN_(a, b) a##_##b
#define LBM_JOIN(a, b) LBM_JOIN_(a, b)

namespace lbm::cpu {

std::unique_ptr<backend::BlockState> LBM_JOIN(make_block, LBM_STENCIL)(const backend::BlockSpec& spec,
                                                                       const CpuOptions& options) {
    using S = LBM_STENCIL;
    using backend::NumberKind;
    if (spec.precision == NumberKind::Float64) {
        switch (spec.storage) {
            case NumberKind::Float64: return std::make_unique<TypedBlock<S, double, double>>(spec, options);
            case NumberKind::Float32: return std::make_unique<TypedBlock<S, double, float>>(spec, options);
            default: return std::make_unique<TypedBlock<S, double, Half>>(spec, options);
        }
    }
    if (spec.storage == NumberKind::Float32) {
        return std::make_unique<TypedBlock<S, float, float>>(spec, options);
    }
    return std::make_unique<TypedBlock<S, float, Half>>(spec, options);
}

}  // namespace lbm::cpu
