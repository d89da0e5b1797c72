// The update of rows of cells for one stencil and one instruction set; compiled once for each pair of them.
#include "../../lattice/collisions/bgk.h"
#include "../../lattice/collisions/mrt.h"
#include "../../lattice/collisions/regularized.h"
#include "../../lattice/collisions/trt.h"
#include "row_pack.h"

#define LBM_JOIN_(a, b, c) a##_##b##_##c
#define LBM_JOIN(a, b, c) LBM_JOIN_(a, b, c)

namespace lbm::cpu {
namespace {

/// Not inlined: branches between loading and storing take more registers than there are, and the packs within a row
/// are spared them.
template <class Collision, class Real, class Storage>
[[gnu::noinline]] void update_any_pack(const Row<Real, Storage>& row, Index x,
                                       const CollisionParameters<Real>& parameters) {
    const AnyPack<Real, Storage> pack{row, x};
    update_cell<S, Collision>(pack, parameters);
}

template <class Collision, class Real, class Storage>
void update_rows(const UpdateArguments& a, Index first, Index last) {
    using Here = Row<Real, Storage>;
    LaminarParameters<Real> laminar;
    static_cast<CollisionParameters<Real>&>(laminar) = converted<Real>(a.parameters);
    const CollisionParameters<Real>& parameters = laminar;
    const bool plain = !a.forced && !(a.parameters.eddy > 0);
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

template <class Collision>
UpdateKernel kernel_of(backend::NumberKind precision, backend::NumberKind storage) {
    using backend::NumberKind;
    if (precision == NumberKind::Float64) {
        return storage == NumberKind::Float64   ? update_rows<Collision, double, double>
               : storage == NumberKind::Float32 ? update_rows<Collision, double, float>
                                                : update_rows<Collision, double, Half>;
    }
    return storage == NumberKind::Float32 ? update_rows<Collision, float, float> : update_rows<Collision, float, Half>;
}

}  // namespace

UpdateKernel LBM_JOIN(kernel, LBM_ISA, LBM_STENCIL)(backend::CollisionKind collision, backend::NumberKind precision,
                                                    backend::NumberKind storage) {
    using backend::CollisionKind;
    switch (collision) {
        case CollisionKind::BGK: return kernel_of<BGK>(precision, storage);
        case CollisionKind::TRT: return kernel_of<TRT>(precision, storage);
        case CollisionKind::MRT: return kernel_of<MRT>(precision, storage);
        default: return kernel_of<Regularized>(precision, storage);
    }
}

}  // namespace lbm::cpu
