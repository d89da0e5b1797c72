// The CPU blocks of one stencil, for every pair of arithmetic and storage types; this file is compiled once for each
// stencil.
#include "typed_block.h"

namespace lbm::cpu {

template <class S>
std::unique_ptr<backend::BlockState> make_block_of(const backend::BlockSpec& spec, const CpuOptions& options);

template <>
std::unique_ptr<backend::BlockState> make_block_of<LBM_STENCIL>(const backend::BlockSpec& spec,
                                                                const CpuOptions& options) {
    using S = LBM_STENCIL;
    return backend::with_numbers(
        spec.precision, spec.storage, [&](auto numbers) -> std::unique_ptr<backend::BlockState> {
            using Real = typename decltype(numbers)::Real;
            using Stored = typename decltype(numbers)::Stored;
            if constexpr (MultispeedThermal::has_stencil<S> && !MultispeedThermal::stores<Real, Stored>) {
                throw std::logic_error("a multispeed stencil is stored as it is computed");
            } else {
                return std::make_unique<TypedBlock<S, Real, Stored>>(spec, options);
            }
        });
}

}  // namespace lbm::cpu
