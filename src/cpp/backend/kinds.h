// The kinds of stencil, collision, number and streaming that a backend can be asked for.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "../lattice/stencil.h"
#include "../lattice/storage.h"

namespace lbm::backend {

enum class StencilKind { D2Q9, D3Q19, D3Q27, D2Q37 };
enum class CollisionKind { BGK, TRT, MRT, Regularized, ThermalBGK };
enum class NumberKind { Float16, Float32, Float64 };

inline std::size_t size_of(NumberKind kind) {
    return kind == NumberKind::Float16 ? 2 : kind == NumberKind::Float32 ? 4 : 8;
}

/// Calls visitor with an object of the stencil's type.
template <class Visitor>
decltype(auto) with_stencil(StencilKind kind, Visitor&& visitor) {
    switch (kind) {
        case StencilKind::D2Q9: return visitor(D2Q9{});
        case StencilKind::D3Q19: return visitor(D3Q19{});
        case StencilKind::D3Q27: return visitor(D3Q27{});
        default: return visitor(D2Q37{});
    }
}

/// Calls visitor with a number of the size in which populations are stored.
template <class Visitor>
void with_stored(NumberKind kind, Visitor&& visitor) {
    switch (kind) {
        case NumberKind::Float16: visitor(UInt16{}); break;
        case NumberKind::Float32: visitor(float{}); break;
        default: visitor(double{}); break;
    }
}

}  // namespace lbm::backend
