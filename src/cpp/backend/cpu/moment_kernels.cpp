// The kernels for a state of moments of one stencil and one instruction set; this file is compiled once for each pair.
#include "moment_rows.h"

#include "../moment_kind.h"

namespace lbm::cpu {

template <>
MomentKernel moment_kernel_for<LBM_STENCIL, LBM_ISA>(const KernelKind& kind) {
    MomentKernel found = nullptr;
    for_types(Collisions{}, [&](auto member) {
        using Collision = typename decltype(member)::type;
        if constexpr (backend::may_keep_moments<LBM_STENCIL, Collision>) {
            if (kind.collision == backend::collision_kind<Collision>) {
                found = kind.precision == backend::NumberKind::Float32 ? update_moments<Collision, float>
                                                                       : update_moments<Collision, double>;
            }
        }
    });
    return found;
}

}  // namespace lbm::cpu
