// The kernels of the turbulence models of velocity gradients, and of the strain rate, for one stencil and one
// instruction set; this file is compiled once for each pair.
#include "../../lattice/parameters.h"
#include "../../lattice/stencils/all.h"
#include "kernels.h"
#include "pack.h"

namespace lbm::cpu {
namespace {

using S = LBM_STENCIL;

/// Whole packs are computed, up to the padding of the rows, from unaligned loads of the neighbours.
template <class Terms, class Real, class Storage>
void terms_of_rows(const EddyViscosityArguments& a, Index first, Index last) {
    constexpr int W = LBM_VECTOR_BYTES / int(sizeof(Real));
    using V = Pack<Real, W>;
    const Real factor = Real(a.factor), unit = storage_unit<Storage>;
    const auto at = [unit](const Storage* place) { return load_stored<Real, W>(place) * unit; };
    for (Index r = first; r < last; ++r) {
        const int y = int(r % a.address.ny), z = int(r / a.address.ny);
        const auto row = [&](int d, int dy, int dz) {
            return static_cast<const Storage*>(a.lattice) + a.velocity.offset(a.address, a.phase, d, 0, y + dy, z + dz);
        };
        const Storage* rows[S::D][2 * S::D - 1];  // the own one, then those behind and ahead along y and z
        for (int d = 0; d < S::D; ++d) {
            rows[d][0] = row(d, 0, 0);
            for (int side = 0; side < 2; ++side) {
                rows[d][1 + side] = row(d, 2 * side - 1, 0);
                if constexpr (S::D == 3) {
                    rows[d][3 + side] = row(d, 0, 2 * side - 1);
                }
            }
        }
        constexpr int count = Terms::template count<S::D>;
        Real* out = static_cast<Real*>(a.terms) + r * count * a.pitch;
        for (Index x = 0; x < a.address.nx; x += W) {
            VelocityGradient<V, S::D> gradient;
            static_for<S::D>([&]<int d>() LBM_INLINE_LAMBDA {
                gradient.of[d][0] = central_difference(at(rows[d][0] + x + 1), at(rows[d][0] + x - 1));
                static_for<S::D - 1>([&]<int k>() LBM_INLINE_LAMBDA {
                    gradient.of[d][k + 1] = central_difference(at(rows[d][2 * k + 2] + x), at(rows[d][2 * k + 1] + x));
                });
            });
            V terms[count];
            Terms::compute(gradient, factor, terms);
            static_for<count>([&]<int k>() LBM_INLINE_LAMBDA { store_pack<Real, W>(out + k * a.pitch + x, terms[k]); });
        }
    }
}

/// The kernel of the numbers of a kind; null if there is none.
template <class Terms>
EddyViscosityKernel kernel_of(const EddyViscosityKind& kind) {
    EddyViscosityKernel found = nullptr;
    for_types(backend::NumberPairs{}, [&](auto pair) {
        using N = typename decltype(pair)::type;
        if (kind.precision == backend::number_kind<typename N::Real> &&
            kind.storage == backend::number_kind<typename N::Stored>) {
            found = terms_of_rows<Terms, typename N::Real, typename N::Stored>;
        }
    });
    return found;
}

}  // namespace

template <>
EddyViscosityKernel eddy_viscosity_kernel_for<LBM_STENCIL, LBM_ISA>(const EddyViscosityKind& kind) {
    EddyViscosityKernel found = nullptr;
    if constexpr (!Stencil<S>::multispeed) {
        if (kind.turbulence == backend::no_turbulence) {
            return kind.strain ? kernel_of<GradientTerms<void, true>>(kind) : nullptr;
        }
        for_types(TurbulenceModels{}, [&](auto member) {
            using Model = typename decltype(member)::type;
            if constexpr (Model::takes_gradients) {
                if (kind.turbulence == backend::turbulence_kind<Model>) {
                    found = kind.strain ? kernel_of<GradientTerms<Model, true>>(kind)
                                        : kernel_of<GradientTerms<Model, false>>(kind);
                }
            }
        });
    }
    return found;
}

}  // namespace lbm::cpu
