// Selects, at run time, the CPU update kernel for a given collision, arithmetic type and storage type. Everything has
// internal linkage because the including files are compiled once for each instruction set.
#pragma once

#include "../../lattice/models.h"
#include "../../lattice/parameters.h"
#include "kernels.h"

namespace lbm::cpu {
namespace {

/// Returns make(collision, numbers) for the collision and the number types of a kind; null if the model does not
/// support them.
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
