// What the update of a block is handed that its steps do not change: rates, and where populations arrive and depart.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "../block_state.h"
#include "kernels/arguments.h"

namespace lbm::cuda {

/// How many rows of a layer are updated before those of the next one. A temperature is wanted in three layers, and while
/// a whole layer goes by the second-level cache may lose it. On neighbours' places, which are of three layers anyway,
/// that costs more than it brings.
inline int rows_together(const Address& address, Phase phase) {
    if (const char* t = getenv("LBMGPU_TILE")) { int o = 64, n = 64; sscanf(t, "%d,%d", &o, &n); return phase == Phase::InPlaceNeighbor ? std::min(n, address.ny) : std::min(o, address.ny); }
    return phase == Phase::InPlaceNeighbor ? address.ny : std::min(64, address.ny);
}

/// All but the lattices and the force; of all rows.
template <class Real>
UpdateArguments<Real> update_arguments(const backend::BlockSpec& spec, const Address& address, Phase phase) {
    UpdateArguments<Real> a{};
    a.address = address;
    a.rows = {0, 0, address.ny, address.nz};
    a.parameters = converted<Real>(spec.parameters);
    a.heat = converted<Real>(spec.heat);
    a.rows_together = rows_together(address, phase);
    a.temperature_before = address.temperature + temperature_slot(next_phase(phase)) * address.temperature_stride;
    a.temperature_after = address.temperature + temperature_slot(phase) * address.temperature_stride;
    backend::with_stencil(spec.stencil, [&](auto s) {
        using S = decltype(s);
        const auto offset = [&](Place place, int i) {
            const Index y = address.wraps[1] ? 0 : S::c[i][1], z = address.wraps[2] ? 0 : S::c[i][2];
            const Index rows = z * (address.ny + 2 * address.halo_y) + y;
            return (place.slot * address.population_stride + place.along * rows * address.row_stride) *
                   Index(backend::size_of(spec.storage));
        };
        for (int i = 0; i < S::Q; ++i) {
            a.arrive[i] = offset(arriving<S>(phase, i), i);
            a.depart[i] = offset(departing<S>(phase, i), i);
        }
    });
    return a;
}

}  // namespace lbm::cuda
