// The update kernels of the isothermal model for one stencil and one instruction set; this file is compiled once for
// each pair.
#include "kernel_choice.h"
#include "update_rows.h"

namespace lbm::cpu {

template <>
UpdateKernel kernel_for<Isothermal, LBM_STENCIL, LBM_ISA>(const KernelKind& kind) {
    return among_kinds<Isothermal>(kind, [](auto collision, auto numbers) -> UpdateKernel {
        using N = decltype(numbers);
        return update_rows<decltype(collision), typename N::Real, typename N::Stored>;
    });
}

}  // namespace lbm::cpu
