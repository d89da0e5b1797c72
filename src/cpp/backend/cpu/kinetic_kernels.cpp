// The update of rows of cells whose populations carry the energy; compiled once for each instruction set.
#include "../../lattice/kinetic.h"
#include "kernels.h"
#include "pack.h"

#define LBM_JOIN_(a, b) a##_##b
#define LBM_JOIN(a, b) LBM_JOIN_(a, b)

namespace lbm::cpu {
namespace {

using S = D2Q37;

/// Packs of cells side by side within a row: what arrives lies in rows beside it, shifted along x.
///
/// The last one of a row stores past its end, into the halo in the padding, of the next row too. What belongs there is
/// copied or made anew before the next update, and comes from other blocks after this one: rows beside another block
/// along x are never of the interior (engine/interior.h), nor is the row before an imported one.
template <class Real>
struct KineticPack {
    static constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));
    using Value = Pack<Real, W>;

    const Real* source;  // population 0 of the pack
    Real* target;
    Index row_stride, population_stride;

    LBM_HD void load(Value (&h)[S::Q]) const {
        static_for<S::Q>([&]<int i>() LBM_INLINE_LAMBDA {
            const Real* from = source + i * population_stride - S::c[i][1] * row_stride - S::c[i][0];
            h[i] = load_stored<Real, W>(from);
            __builtin_prefetch(from + row_stride, 0, 2);
        });
    }
    LBM_HD void store(const Value (&h)[S::Q]) const {
        static_for<S::Q>([&]<int i>()
                             LBM_INLINE_LAMBDA { store_stored<Real, W>(target + i * population_stride, h[i]); });
    }
};

template <class Real, bool own_third>
void update_kinetic_rows(const UpdateArguments& a, Index first, Index last) {
    const auto parameters = converted<Real>(*a.kinetic);
    const Address& address = a.address;
    for (Index r = first; r < last; ++r) {
        const Index row = address.row(int(r), 0, 0);
        for (Index x = 0; x < address.nx; x += KineticPack<Real>::W) {
            const KineticPack<Real> pack{static_cast<const Real*>(a.source) + row + x,
                                         static_cast<Real*>(a.target) + row + x, address.row_stride,
                                         address.population_stride};
            update_kinetic_cell<S, own_third>(pack, parameters);
        }
    }
}

}  // namespace

UpdateKernel LBM_JOIN(kinetic_kernel, LBM_ISA)(backend::NumberKind precision, bool own_third) {
    if (precision == backend::NumberKind::Float64) {
        return own_third ? update_kinetic_rows<double, true> : update_kinetic_rows<double, false>;
    }
    return own_third ? update_kinetic_rows<float, true> : update_kinetic_rows<float, false>;
}

}  // namespace lbm::cpu
