// The kernels of the update of a fluid that has a temperature, for one stencil and one instruction set; compiled once
// for each pair of them.
#include "heated_rows.h"
#include "kernel_choice.h"

namespace lbm::cpu {

template <>
UpdateKernel kernel_for<HybridThermal, LBM_STENCIL, LBM_ISA>(const KernelKind& kind) {
    return among_kinds<HybridThermal>(kind, [](auto collision, auto numbers) -> UpdateKernel {
        using N = decltype(numbers);
        return update_thermal_rows<decltype(collision), typename N::Real, typename N::Stored>;
    });
}

}  // namespace lbm::cpu
