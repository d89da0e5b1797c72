// The update kernels of the hybrid thermal model for one stencil and one instruction set; this file is compiled once
// for each pair.
#include "kernel_choice.h"
#include "thermal_rows.h"

namespace lbm::cpu {

template <>
UpdateKernel kernel_for<HybridThermal, LBM_STENCIL, LBM_ISA>(const KernelKind& kind) {
    return among_kinds<HybridThermal>(kind, [](auto collision, auto numbers) -> UpdateKernel {
        using N = decltype(numbers);
        return update_thermal_rows<decltype(collision), typename N::Real, typename N::Stored>;
    });
}

}  // namespace lbm::cpu
