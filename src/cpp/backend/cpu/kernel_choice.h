// How a file of kernels picks one by its kind. All of it has internal linkage: each file is compiled for another
// instruction set.
#pragma once

#include "../../lattice/models.h"
#include "../../lattice/parameters.h"
#include "kernels.h"

namespace lbm::cpu {
namespace {

/// What make(collision, numbers) gives for the collision and the numbers of a kind; null where the model has none such.
template <class Model, class Make>
UpdateKernel among_kinds(const KernelKind& kind, Make make) {
    UpdateKernel found = nullptr;
    for_types(Collisions{}, [&](auto member) {
        using Collision = typename decltype(member)::type;
        if constexpr (Model::template has_stencil<LBM_STENCIL> && Collision::template goes_with<LBM_STENCIL>) {
            for_types(backend::NumberPairs{}, [&](auto pair) {
                using N = typename decltype(pair)::type;
                if constexpr (Model::template stores<typename N::Real, typename N::Stored>) {
                    if (kind.collision == backend::collision_kind<Collision> &&
                        kind.precision == backend::number_kind<typename N::Real> &&
                        kind.storage == backend::number_kind<typename N::Stored>) {
                        found = make(Collision{}, N{});
                    }
                }
            });
        }
    });
    return found;
}

}  // namespace
}  // namespace lbm::cpu
