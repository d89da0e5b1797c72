// The update kernels of the isothermal model for one stencil and one instruction set; this file is compiled once for
// each pair.
#include "row_pack.h"

namespace lbm::cpu {
namespace {

/// Updates a pack that may be at an end of its row. Not inlined: branches between loads and stores need more registers
/// than there are, which packs within the row thus avoid.
template <class Collision, class Real, class Storage, class Parameters>
[[gnu::noinline]] void update_any_pack(const Row<Real, Storage>& row, Index x, const Parameters& parameters) {
    const AnyPack<Real, Storage> pack{row, x};
    update_cell<S, Collision>(pack, parameters);
}

template <class Collision, class Real, class Storage>
void update_rows(const UpdateArguments& a, Index first, Index last) {
    using Here = Row<Real, Storage>;
    using Parameters = typename Collision::template Parameters<Real>;
    const Laminar<Parameters> laminar{parameters_from<Parameters>(a.parameters)};
    const Parameters& parameters = laminar;
    const bool plain = !a.forced && !(parameters.eddy > 0);
    Here row(a);
    for (Index r = first; r < last; ++r) {
        row.enter(int(r % a.address.ny), int(r / a.address.ny));
        for (Index x = 0; x < a.address.nx; x += Here::W) {
            if (plain && x > 0 && x + Here::W < a.address.nx) {
                const InnerPack<Real, Storage> pack{row, x};
                update_cell<S, Collision>(pack, laminar);
            } else {
                update_any_pack<Collision>(row, x, parameters);
            }
        }
    }
}

}  // namespace

template <>
UpdateKernel kernel_for<Isothermal, LBM_STENCIL, LBM_ISA>(const KernelKind& kind) {
    return among_kinds<Isothermal>(kind, [](auto collision, auto numbers) -> UpdateKernel {
        using N = decltype(numbers);
        return update_rows<decltype(collision), typename N::Real, typename N::Stored>;
    });
}

}  // namespace lbm::cpu
