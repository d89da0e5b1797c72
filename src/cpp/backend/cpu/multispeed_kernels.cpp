// The update kernels of the multispeed thermal model for one stencil and one instruction set; this file is compiled
// once for each pair.
#include "../../lattice/multispeed.h"
#include "kernel_choice.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;

/// A pack of neighbouring cells in a row. Incoming populations are read from the neighbouring rows, shifted along x.
///
/// The last pack of a row also stores beyond its end: into the halo in the padding, which may be that of the next row.
/// This is harmless. These halo cells are copied or computed again before the next update, and imports from other
/// blocks come after this update: the last pack of a row in a block with a neighbour across x never belongs to the
/// interior (engine/interior.h), nor does the row before an imported one.
template <class Real>
struct MultispeedPack {
    static constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));
    using Value = Pack<Real, W>;

    const Real* source;  // population 0 of the pack
    Real* target;
    Index row_stride, population_stride;
    Index ahead;  // from this pack to the one whose memory is asked for

    LBM_HD void load(Value (&h)[S::Q]) const {
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            const Real* from = source + i * population_stride - S::c[i][1] * row_stride - S::c[i][0];
            h[i] = load_stored<Real, W>(from);
            __builtin_prefetch(from + ahead, 0, 2);
            __builtin_prefetch(target + i * population_stride + ahead, 1, 2);
        });
    }
    LBM_HD void store(const Value (&h)[S::Q]) const {
        static_for<S::Q>([&]<int i>()
                             LBM_INLINE_LAMBDA { store_stored<Real, W>(target + i * population_stride, h[i]); });
    }
};

/// Numbers between a pack and the memory of its row that is asked for. A row ahead, as other kernels ask for it, would
/// be lost again: a row of both lattices is more than the second-level cache has.
template <class Real>
constexpr Index asked_ahead = 256 / Index(sizeof(Real));

template <class Real, bool variable_prandtl>
void update_multispeed_rows(const UpdateArguments& a, const MultispeedParameters<Real>& parameters, Index first,
                            Index last) {
    const Address& address = a.address;
    for (Index r = first; r < last; ++r) {
        const Index row = address.row(int(r), 0, 0);
        const Index to_next_row = address.row_stride - (a.end_x - a.first_x);
        for (Index x = a.first_x; x < a.end_x; x += MultispeedPack<Real>::W) {
            const Index within = x + asked_ahead<Real>;
            const MultispeedPack<Real> pack{static_cast<const Real*>(a.source) + row + x,
                                            static_cast<Real*>(a.target) + row + x, address.row_stride,
                                            address.population_stride,
                                            asked_ahead<Real> + (within < a.end_x ? 0 : to_next_row)};
            update_multispeed_cell<S, variable_prandtl>(pack, parameters);
        }
    }
}

template <class Real>
void update_any_rows(const UpdateArguments& a, Index first, Index last) {
    const auto parameters = parameters_from<MultispeedParameters<Real>>(a.parameters);
    const auto update =
        parameters.excess != 0 ? update_multispeed_rows<Real, true> : update_multispeed_rows<Real, false>;
    update(a, parameters, first, last);
}

}  // namespace

template <>
UpdateKernel kernel_for<MultispeedThermal, LBM_STENCIL, LBM_ISA>(const KernelKind& kind) {
    return among_kinds<MultispeedThermal>(kind, [](auto collision, auto numbers) -> UpdateKernel {
        using N = decltype(numbers);
        static_assert(IsSame<decltype(collision), ThermalBGK>::value, "the update of this model has one collision");
        return update_any_rows<typename N::Real>;
    });
}

}  // namespace lbm::cpu
